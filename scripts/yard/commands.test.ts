import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { commands, runCommand } from './commands.ts'

const program = join(import.meta.dirname, '../yard.ts')

const typed = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

async function helpOf(t: TestContext, name: string, ...words: string[]): Promise<string> {
  const said: string[] = []
  const out = t.mock.method(console, 'log', (line: string) => void said.push(line))
  const err = t.mock.method(console, 'error', () => {})
  try {
    assert.equal(await runCommand(name, [...words, '--help']), 0, `${name} ${words.join(' ')}`)
    assert.equal(err.mock.callCount(), 0)
    return said.join('\n')
  } finally {
    out.mock.restore()
    err.mock.restore()
  }
}

const verbsIn = (help: string) => [...help.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, verb = '']) => verb)

test('every command says how it is typed, on stdout, in both ways of asking, and each of its verbs does', async (t) => {
  assert.ok(Object.keys(commands).length >= 20)
  for (const name of Object.keys(commands)) {
    const help = await helpOf(t, name)
    assert.match(help, new RegExp(`^Usage: \\./yard ${name}\\b.*\\n`))
    if (!help.startsWith(`Usage: ./yard ${name} <command>`)) continue
    const verbs = verbsIn(help)
    assert.ok(verbs.length > 0, help)
    for (const verb of verbs)
      assert.match(await helpOf(t, name, verb), new RegExp(`^Usage: \\./yard ${name} ${verb}\\b.*\\n\\S`))
  }
  for (const words of [['up'], ['tool'], ['tool', 'run']]) {
    const asked = typed(...words, '--help')
    assert.deepEqual([asked.status, asked.stderr], [0, ''])
    assert.deepEqual(typed('help', ...words), asked)
  }
})

test('the list names every command, and what does not exist has no help', () => {
  const list = typed('help')
  assert.deepEqual(verbsIn(list.stdout), Object.keys(commands))
  assert.deepEqual([list.status, list.stderr], [0, ''])
  assert.deepEqual(typed('help', 'help'), list)
  const unknown = typed('help', 'upp')
  assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
  assert.match(unknown.stderr, /did you mean "\.\/yard up"/)
  assert.equal(typed('help', 'tool', 'chek').status, 2)
})

test('what is typed wrongly is answered with the usage, on stderr', () => {
  for (const args of [
    ['up', 'help'],
    ['chaos', '--sedes', '2'],
    ['key', 'create'],
    ['vault', 'new-key', 'x'],
  ]) {
    const { status, stdout, stderr } = typed(...args)
    assert.deepEqual([status, stdout], [2, ''], args.join(' '))
    assert.match(stderr, new RegExp(`^yard: [^]*\\nUsage: \\./yard ${args[0]}`))
  }
})

test('the usage of a command has each option that it takes', () => {
  for (const [name, { usage = '', details = [] }] of Object.entries(commands)) {
    const told = [usage, ...details].join('\n')
    const [file = ''] = /(?<=import\(')[^']+/.exec(String(commands[name]?.load)) ?? []
    const source = readFileSync(join(import.meta.dirname, file), 'utf8')
    if (usage === '') continue
    for (const [, option = ''] of source.matchAll(/'?([a-z-]+)'?: \{ type: '(?:string|boolean)'/g))
      assert.ok(told.includes(`--${option}`), `${name} --${option}`)
  }
})
