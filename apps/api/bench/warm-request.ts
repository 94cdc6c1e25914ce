import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createKey } from '@toolyard/access/create-key'
import { revokeKey } from '@toolyard/access/revoke-key'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../src/create-api.ts'
import { bareApi, unconnected } from '../src/fixtures/bare-api.ts'
import { createGuard } from '../src/http/authenticate.ts'

export type WarmRequestBench = {
  requests: number
  /** Of one request each, from `fetch` to its answer; `guard` is what the key adds to it. */
  meanMicros: { open: number; guarded: number; guard: number }
}

const requestsPerRound = 500
const rounds = 60
const operator = { actor: { kind: 'operator' as const } }

/** What a warm key adds to a request: the same route twice, in the whole api, once behind a guard. No network. */
export async function benchWarmRequest(pool: Pool): Promise<WarmRequestBench> {
  const { api, verifier, close } = bareApi(pool)
  const guard = createGuard(verifier, () => '192.0.2.1')
  api.get('/bench/open', (c) => c.body(null))
  api.get('/bench/guarded', guard('tools:read'), (c) => c.body(null))
  const { key, token } = await createKey(pool, operator, {
    name: 'bench warm-request',
    scopes: ['tools:read'],
  })
  try {
    const headers = { authorization: `Bearer ${token}` }
    const open = () => ask(api, '/bench/open', headers)
    const guarded = () => ask(api, '/bench/guarded', headers)
    // In turns, so that whatever else the machine does falls on both.
    const spent = { open: 0, guarded: 0 }
    for (let round = -10; round < rounds; round++) {
      const [openMs, guardedMs] = [await time(open), await time(guarded)]
      if (round < 0) continue
      spent.open += openMs
      spent.guarded += guardedMs
    }
    const mean = (ms: number) => (ms * 1_000) / (rounds * requestsPerRound)
    return {
      requests: rounds * requestsPerRound,
      meanMicros: {
        open: mean(spent.open),
        guarded: mean(spent.guarded),
        guard: mean(spent.guarded - spent.open),
      },
    }
  } finally {
    await revokeKey(pool, operator, key.id)
    await close()
  }
}

async function ask(api: Api, path: string, headers: Record<string, string>): Promise<void> {
  const answer = await api.fetch(new Request(`http://localhost${path}`, { headers }), unconnected())
  assert.equal(answer.status, 200)
}

async function time(request: () => Promise<void>): Promise<number> {
  // The watch reads the epoch on timers, which a loop of mere promises would starve.
  await nextTurn()
  const beganAtMs = performance.now()
  for (let i = 0; i < requestsPerRound; i++) await request()
  return performance.now() - beganAtMs
}
