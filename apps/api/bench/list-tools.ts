import assert from 'node:assert/strict'
import { createKey } from '@toolyard/access/create-key'
import { revokeKey } from '@toolyard/access/revoke-key'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { manifest } from '@toolyard/contract/manifest'
import type { Pool } from '@toolyard/db/pool'
import { bareApi } from '../src/fixtures/bare-api.ts'
import { listen } from '../src/listen.ts'

export type ListToolsBench = { tools: number; requests: number; bytes: number; p50Ms: number; p99Ms: number }

const toolCount = 200
const requests = 300
const operator = { actor: { kind: 'operator' as const } }

/** `GET /tools` over HTTP with 200 tools of the usual size, one request after the other. */
export async function benchListTools(pool: Pool): Promise<ListToolsBench> {
  await publishTools(pool, toolCount)
  const { api, close } = bareApi(pool)
  const server = await listen({
    fetch: api.fetch,
    refuseUnread: () => ({ status: 400, headers: {}, body: '' }),
    onError: () => {},
    host: '127.0.0.1',
    port: 0,
  })
  const { key, token } = await createKey(pool, operator, { name: 'bench list-tools', scopes: ['tools:read'] })
  try {
    const spent: number[] = []
    let bytes = 0
    for (let request = -30; request < requests; request++) {
      const beganAtMs = performance.now()
      const answer = await fetch(`${server.url}/tools`, { headers: { authorization: `Bearer ${token}` } })
      const body = await answer.arrayBuffer()
      assert.equal(answer.status, 200)
      bytes = body.byteLength
      if (request >= 0) spent.push(performance.now() - beganAtMs)
    }
    const sorted = spent.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
    return { tools: toolCount, requests, bytes, p50Ms: at(0.5), p99Ms: at(0.99) }
  } finally {
    await publishTools(pool, 0)
    await revokeKey(pool, operator, key.id)
    await server.close(AbortSignal.abort())
    await close()
  }
}

async function publishTools(pool: Pool, count: number): Promise<void> {
  const tools = Array.from({ length: count }, (_, n) => {
    const name = `bench_${n}`
    const parsed = manifest.parse({
      name,
      description: `Tool ${n} of the bench: what it does is told in a sentence or two, as an author would write it.`,
      trigger: { type: 'on_demand' },
      category: 'bench',
      parameters: Object.fromEntries(
        ['query', 'limit', 'language', 'since'].map((parameter) => [
          parameter,
          {
            type: 'string',
            description: `What ${parameter} means to this tool`,
            required: parameter === 'query',
          },
        ]),
      ),
      returns: { text: { type: 'string' } },
      config_schema: { api_key: { description: 'The key', secret: true, required: true } },
      examples: [{ description: 'An example of its use', params: { query: 'something' } }],
    })
    return { name, hash: `hash-${n}`, manifest: parsed }
  })
  const scan = { tools, faults: [], unsettled: [] }
  await publishScan(pool, { processId: 'bench', engineId: undefined, reload: 0, contentHash: 'bench', scan })
}
