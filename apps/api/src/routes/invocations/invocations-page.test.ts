import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { errorTitles } from '@toolyard/contract/errors'
import { idempotencyKey, invocationShape, invokeBody } from '@toolyard/contract/invocations'
import { manifest } from '@toolyard/contract/manifest'
import { scopes } from '@toolyard/contract/scopes'
import type { InvocationResult } from '@toolyard/invocations/invocation'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { buildTool, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'
import { submitRefusals } from '../../http/refusals.ts'

// What docs/invocations.md says under `<!-- run -->` is typed here, in its order, and what it shows under `<!-- answer -->`
// is what came. A worker's hand ends the calls that are waited for as tools/tool_example would.

const root = new URL('../../../../../', import.meta.url)
const page = readFileSync(new URL('docs/invocations.md', root), 'utf8')
const blocks = [
  ...page.matchAll(/^<!-- (run|answer)(?:: (\w+))? -->\n```(sh|json|text)\n([^]*?)^```$/gm),
].map(([, kind = '', about = '', language = '', text = '']) => ({ kind, about, language, text }))

const run = promisify(execFile)
const shown: { result: InvocationResult } = JSON.parse(
  blocks.find(({ text }) => text.includes('"result"'))?.text ?? '',
)

/** As the page has it, whatever the moment and the machine. */
const alike = (text: string) =>
  text
    .replaceAll(/inv_[0-9a-z]{26}/g, 'inv_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
    .replaceAll(/key:[0-9a-z]+/g, 'key:…')
    .replaceAll(/"(image_hash|request_id)": ?"[^"]*"/g, '"$1":"…"')
    .replaceAll(/"(queue_ms|duration_ms)": ?\d+/g, '"$1":0')

test('the lines of the page work as they stand, and are answered as it says', async (t) => {
  const { url: databaseUrl, pool } = await testDatabase()
  const { url } = await testApi({ databaseUrl })
  const { token } = await makeKey(pool, { scopes: [...scopes] })
  const described = manifest.parse(
    JSON.parse(readFileSync(new URL('tools/tool_example/manifest.json', root), 'utf8')),
  )
  await publishTools(pool, [described])
  await buildTool(pool, described.name)
  const worker = await workerHand(pool, recordOutcomes)
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'admin.key'), token)
  const lines = blocks.filter(({ kind }) => kind === 'run')
  assert.equal(lines.length, (page.match(/^curl /gm) ?? []).length)

  let id = 'none yet'
  let doneId = 'none yet'
  const type = async (line: string) => {
    const typed = line
      .replace(/^curl /, `curl --silent --show-error --write-out '\\n%{http_code}' `)
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('.toolyard/', `${folder}/`)
      // Only what has ended can be weighed.
      .replaceAll('inv_ID', line.includes('/feedback') ? doneId : id)
    const waiting = run('sh', ['-c', typed])
    if (/wait=/.test(line))
      doneId = await worker.run(described.name, { kind: 'succeeded', result: shown.result })
    const { stdout } = await waiting
    const [, body = '', code = ''] = /^([^]*)\n(\d{3})$/.exec(stdout) ?? assert.fail(stdout)
    return { body, code }
  }
  for (const [index, { kind, about, text }] of blocks.entries()) {
    if (kind !== 'run') continue
    const { body, code } = await type(text.trim())
    if (about !== 'refused') assert.match(code, /^20[02]$/, `${text}${body}`)
    if (about === 'twice') assert.equal(idOf((await type(text.trim())).body), idOf(body))
    id = idOf(body) ?? id
    const next = blocks[index + 1]
    if (next?.kind !== 'answer') continue
    assert.equal(code, next.about)
    if (next.language === 'text') assert.equal(alike(body), alike(next.text))
    else assert.deepEqual(JSON.parse(alike(body)), JSON.parse(alike(next.text)))
  }
})

const idOf = (body: string) => /^\{"id":"(inv_\w+)"/.exec(body)?.[1]

test('the page names every member, status, kind and refusal that a call can have', () => {
  const { waiting_for: waitingFor, status, failure } = invocationShape.shape
  const { kind, class: classes } = failure.unwrap().shape
  for (const name of Object.keys(invokeBody.shape))
    assert.match(page, new RegExp(`^\\| \`${name}\` \\|`, 'm'))
  const words = [...waitingFor.unwrap().options, ...status.options, ...kind.options, ...classes.options]
  for (const word of words) assert.ok(page.includes(`\`${word}\``), word)
  const table = page.slice(page.indexOf('| HTTP | `code` |'))
  for (const code of submitRefusals) assert.ok(table.includes(`\`${code}\``), code)
  for (const [, code = ''] of table.matchAll(/^\| \d{3} \| `(\w+)`/gm)) assert.ok(code in errorTitles, code)
  assert.ok(idempotencyKey.safeParse('greeting-17').success)
})
