import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { bodyOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
await publishTools(pool, [newManifest('plain')])
await buildTool(pool, 'plain')
const { token } = await makeKey(pool, { scopes: ['tools:invoke'] })
const proxy = await stallableProxy(databaseUrl)
const api = await testApi({ databaseUrl: proxy.url })

test('what is accepted is answered as accepted, also when the database goes while the caller waits', async () => {
  const answering = fetch(`${api.url}/tools/plain/invoke`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json', prefer: 'wait=1' },
    body: JSON.stringify({ params: { zeta: 'z' }, topic: 'trip' }),
  })
  const id = await waitUntil('it to be accepted', async () => {
    const { rows } = await pool.query<{ id: string }>('select id from invocations')
    return rows[0]?.id
  })
  proxy.cut()
  const answer = await answering
  assert.equal(answer.status, 202)
  assert.equal(answer.headers.get('location'), `/invocations/${id}`)
  const { id: told, status } = await bodyOf(answer, z.object({ id: z.string(), status: z.string() }))
  assert.deepEqual([told, status], [id, 'queued'])
  const event = await waitUntil('it to be noted', () =>
    api.events().find((one) => one['invocation_id'] === id),
  )
  assert.ok(event['error'], 'why nothing newer could be told')
  proxy.mend()
})
