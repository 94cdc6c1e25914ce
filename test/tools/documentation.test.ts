import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { prepareDebian } from '../fixtures/build-image.ts'
import { testDockerHost } from '@toolyard/testkit/environment'
import { removeImagesAfter } from '../fixtures/remove-images-after.ts'
import { projectRoot, succeeded, testYard } from '../fixtures/yard.ts'

// What docs/tools.md says under `<!-- run -->` is typed here, in a folder of tools of the test's own, and what it says
// under `<!-- file: … -->` is written there. `<!-- run: words -->` is to answer with those words.

const page = readFileSync(join(projectRoot, 'docs/tools.md'), 'utf8')

type Step = { kind: 'file' | 'run'; about: string; text: string }

function readSteps(): Step[] {
  const found = page.matchAll(/^<!-- (file|run)(?:: (.+))? -->\n```\w+\n([^]*?)^```$/gm)
  return [...found].map(([, kind = '', about = '', text = '']) => ({
    kind: kind === 'file' ? 'file' : 'run',
    about,
    text,
  }))
}

/** The words of a line of shell, as far as the page needs a shell. */
const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')

test('a tool is written in five minutes, as the page says', async (t) => {
  await prepareDebian(testDockerHost(), 'python')
  const yard = await testYard(t)
  removeImagesAfter(t, yard)
  const steps = readSteps()
  assert.equal(steps.length, (page.match(/^<!-- (?:file|run)/gm) ?? []).length)
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ['run', 'file', 'file', 'file', 'run', 'run'],
  )
  for (const { kind, about, text } of steps) {
    if (kind === 'file') {
      writeFileSync(join(yard.toolDir, about), text)
      continue
    }
    let said = ''
    for (const line of text.trim().split('\n')) {
      const [command, ...args] = wordsOf(line)
      assert.equal(command, '../yard')
      said += succeeded(await yard.run(args, {}, { cwd: yard.toolDir }))
    }
    assert.ok(said.includes(about), said)
  }
})

test('the commands of the page exist', async (t) => {
  const yard = await testYard(t)
  const help = (await yard.run(['tool', 'help'])).stdout
  const named = [...page.matchAll(/\.\/yard tool ([a-z]+)/g)].map(([, command]) => command)
  assert.ok(named.length >= 8)
  for (const command of named) if (command !== 'help') assert.match(help, new RegExp(`^ {2}${command} `, 'm'))
})

test('the table of the manifest has every key that a manifest can have', () => {
  const schema = JSON.parse(readFileSync(join(projectRoot, 'tools/manifest.schema.json'), 'utf8'))
  const table = page.slice(page.indexOf('## The manifest'), page.indexOf('## Limits'))
  for (const [key, { properties = {} }] of Object.entries<{ properties?: object }>(schema.properties)) {
    if (key === '$schema') continue
    for (const name of [key, ...Object.keys(properties).map((inner) => `${key}.${inner}`)]) {
      const last = name.split('.').pop() ?? ''
      assert.ok(
        table.includes(`\`${name}`) ||
          table.includes(`\`${last}\``) ||
          (name === key && table.includes(`\`${key}.`)),
        name,
      )
    }
  }
})
