import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot, runningYard, succeeded, testYard } from '../fixtures/yard.ts'

// What the README tells people to type is typed here, on a port and in a data directory of the test's own.

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

test('the curl lines of the README work as they stand', async (t) => {
  const yard = await runningYard(t)
  const lines = [...readme.matchAll(/^curl .+$/gm)].map(([line]) => line)
  assert.ok(lines.length >= 2)
  for (const line of lines) {
    const typed = line
      .replaceAll('http://127.0.0.1:8080', yard.url)
      .replaceAll('.toolyard/', `${yard.dataDir}/`)
    const answer: unknown = JSON.parse(
      execFileSync('sh', ['-c', `${typed} --silent --fail`], { encoding: 'utf8' }),
    )
    assert.ok(answer !== null && typeof answer === 'object', line)
  }
})

test('the first command ends with a call of tool_example and its result', async (t) => {
  const yard = await testYard(t)
  cpSync(join(projectRoot, 'tools/tool_example'), join(yard.toolDir, 'tool_example'), { recursive: true })
  const said = succeeded(await yard.run(['up', '--detach']))
  const [, command] = /^\$ \.\/(yard invoke .*)$/m.exec(said) ?? assert.fail(said)
  assert.match(said.slice(said.indexOf(String(command))), /^succeeded .*inv_\w+\nHello, World!$/m)
  // The printed line is one to type.
  const typed = execFileSync('sh', ['-c', `printf '%s\\n' ${command?.replace('yard ', '')}`], {
    encoding: 'utf8',
  })
  const again = await yard.run(typed.trimEnd().split('\n'))
  assert.match(succeeded(again), /^Hello, World!$/m)
})

test('the commands of the README exist', async (t) => {
  const yard = await testYard(t)
  const help = (await yard.run(['help'])).stdout
  const named = [...readme.matchAll(/\.\/yard ([a-z]+)/g)].map(([, command]) => command)
  assert.ok(named.length >= 4)
  for (const command of named) {
    if (command !== 'help') assert.match(help, new RegExp(`^ {2}${command} `, 'm'), command)
  }
})
