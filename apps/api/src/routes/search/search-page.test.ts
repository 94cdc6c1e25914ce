import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { manifest } from '@toolyard/contract/manifest'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { buildTool, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

// What docs/search.md shows is asked and answered here as it stands, by the model that comes with the product. Of its
// figures two places are compared: kernels of other processors add up in another order.

const page = readFileSync(new URL('../../../../../docs/search.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^<!-- ([a-z]+)(?:: (\S+))? -->\n```json\n([^]*?)^```$/gm)].map(
  ([, kind = '', path = '', text = '']): Block => ({ kind, path, value: JSON.parse(text) }),
)
type Block = { kind: string; path: string; value: unknown }

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:read'] })
const described = blocks.filter(({ kind }) => kind === 'manifest').map(({ value }) => manifest.parse(value))
await publishTools(pool, described)
for (const { name } of described) await buildTool(pool, name)

const alike = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/srch_[0-9a-z]{26}/g, 'srch_…'), (_, member: unknown) =>
    typeof member === 'number' ? Number(member.toFixed(2)) : member,
  )
const searchedBy = z.looseObject({ searched_by: z.string() })

test('the page has the examples that are run', () => {
  assert.deepEqual(
    blocks.map(({ kind }) => kind),
    ['manifest', 'manifest', 'post', 'answer'],
  )
})

test('each request on the page is answered as the page says', async () => {
  for (const [index, { kind, path, value }] of blocks.entries()) {
    if (kind !== 'post') continue
    const ask = async () => {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { ...bearer(token), 'content-type': 'application/json' },
        body: JSON.stringify(value),
      })
      return searchedBy.parse(await answer.json())
    }
    const answered = await waitUntil('vectors', async () => {
      const answer = await ask()
      return answer.searched_by === 'words' ? undefined : answer
    })
    assert.deepEqual(alike(answered), alike(blocks[index + 1]?.value))
  }
})
