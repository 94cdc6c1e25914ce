import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { manifest } from '@toolyard/contract/manifest'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { buildTool, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

// What docs/agents.md shows is asked and answered here as it stands.

const page = readFileSync(new URL('../../../../../docs/agents.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^<!-- ([a-z]+)(?:: (\S+))? -->\n```json\n([^]*?)^```$/gm)].map(
  ([, kind = '', path = '', text = '']): Block => ({ kind, path, value: JSON.parse(text) }),
)
type Block = { kind: string; path: string; value: unknown }

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke'] })
const described = manifest.parse(blocks.find(({ kind }) => kind === 'manifest')?.value)
await publishTools(pool, [described])
await buildTool(pool, described.name)
const worker = await workerHand(pool)

const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/inv_[0-9a-z]{26}/g, 'inv_…'))

test('the page has the examples that are run', () => {
  assert.deepEqual(
    blocks.map(({ kind }) => kind),
    ['manifest', 'get', 'post', 'answer', 'post', 'answer'],
  )
})

test('each list on the page is what is answered', async () => {
  for (const { path, value } of blocks.filter(({ kind }) => kind === 'get')) {
    const answer = await fetch(url + path, { headers: bearer(token) })
    assert.deepEqual(await answer.json(), value)
  }
})

test('each request on the page is answered as the page says', async () => {
  for (const [index, { kind, path, value }] of blocks.entries()) {
    if (kind !== 'post') continue
    const answering = fetch(url + path, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify(value),
    })
    await worker.run(described.name, success)
    assert.deepEqual(withoutIds(await (await answering).json()), withoutIds(blocks[index + 1]?.value))
  }
})
