import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settings } from '@toolyard/config/settings'
import { webhookEvents } from '@toolyard/contract/webhooks'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { projectRoot } from '../fixtures/yard.ts'
import { runInDebian } from './fixtures/run-in-debian.ts'
import type { Case } from './fixtures/verify-cases.ts'
import { makeCases } from './fixtures/verify-cases.ts'

// The programs of docs/webhooks.md under `<!-- file: … -->` are run on what Toolyard signs.

const page = readFileSync(join(projectRoot, 'docs/webhooks.md'), 'utf8')

test('the program for Node believes what Toolyard signed and nothing else', (t) => {
  const program = join(temporaryFolder(t), 'verify.mjs')
  writeFileSync(program, programOf('verify.mjs'))
  const cases = makeCases()
  const answers = cases.map(({ received: { secret, id, timestamp, signatures, body } }) => {
    const ended = spawnSync(process.execPath, [program, id, timestamp, signatures], {
      input: body,
      env: { WEBHOOK_SECRET: secret },
    })
    return `${String(ended.stdout).trim()} ${ended.status}`.trim()
  })
  assertVerdicts(cases, answers)
})

test('the program for Python believes what Toolyard signed and nothing else', async () => {
  const cases = makeCases()
  assertVerdicts(cases, await runInDebian(['python3', '-c', programOf('verify.py')], cases))
})

test('the program for bash believes what Toolyard signed and nothing else', async () => {
  const cases = makeCases()
  assertVerdicts(cases, await runInDebian(['bash', '-c', programOf('verify.sh'), 'verify.sh'], cases))
})

test('the page names every event and every setting about where messages may go', () => {
  for (const event of webhookEvents) assert.ok(page.includes(`\`${event}\``), event)
  const { webhookAllowHttp, webhookPorts, webhookAllow } = settings
  for (const { env } of [webhookAllowHttp, webhookPorts, webhookAllow])
    assert.ok(page.includes(`| \`${env}\``), env)
})

function programOf(name: string): string {
  const found = [...page.matchAll(/^<!-- file: (\S+) -->\n```\w+\n([^]*?)^```$/gm)]
  const [, , text] = found.find(([, file]) => file === name) ?? assert.fail(`the page has no ${name}`)
  return text ?? ''
}

/** A program that breaks says no word, and ends with 1 all the same. */
function assertVerdicts(cases: readonly Case[], answers: readonly string[]): void {
  const verdicts = answers.map((answer) => answer.replace(/^1$/, 'refused 1'))
  assert.deepEqual(
    Object.fromEntries(cases.map(({ name }, index) => [name, verdicts[index]])),
    Object.fromEntries(cases.map(({ name, genuine }) => [name, genuine ? 'verified 0' : 'refused 1'])),
  )
}
