import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import type { Call } from '../src/actor.ts'
import { createKey } from '../src/create-key.ts'
import { startEpochWatch } from '../src/epoch-watch.ts'
import { revokeKey } from '../src/revoke-key.ts'
import { createVerifier } from '../src/verifier.ts'

export type WarmKeyBench = {
  calls: number
  perCallMicros: { mean: number; p50: number; p99: number; max: number }
}

export type WarmKeyBenchOptions = { calls?: number; print?: (line: string) => void }

const defaultCalls = 200_000
// The watch reads its epoch on timers, which a loop of mere promises would starve.
const callsPerTurn = 1_000
const operator: Call = { actor: { kind: 'operator' } }

/** What verifying a key costs once it is warm, on a migrated database with a watch that runs as in the api. */
export async function benchWarmKey(pool: Pool, options: WarmKeyBenchOptions = {}): Promise<WarmKeyBench> {
  const { calls = defaultCalls, print } = options
  const watch = startEpochWatch({
    pool,
    onFailure: (cause) => print?.(`the epoch cannot be read: ${String(cause)}`),
  })
  const made = await createKey(pool, operator, { name: 'bench warm-key', scopes: ['tools:read'] })
  try {
    const verifier = createVerifier({ pool, watch, failuresPerMinute: 20 })
    await measure(() => verifier.verify(made.token, '127.0.0.1'), Math.min(calls, 20_000))
    const samples = await measure(() => verifier.verify(made.token, '127.0.0.1'), calls)
    const result = { calls, perCallMicros: summarise(samples) }
    const { mean, p50, p99, max } = result.perCallMicros
    print?.(
      `warm key, ${calls} calls: mean ${show(mean)}, p50 ${show(p50)}, p99 ${show(p99)}, max ${show(max)}`,
    )
    return result
  } finally {
    await revokeKey(pool, operator, made.key.id)
    await watch.close()
  }
}

async function measure(call: () => Promise<unknown>, calls: number): Promise<Float64Array> {
  const micros = new Float64Array(calls)
  for (let i = 0; i < calls; i++) {
    const beganAtMs = performance.now()
    await call()
    micros[i] = (performance.now() - beganAtMs) * 1_000
    if (i % callsPerTurn === 0) await nextTurn()
  }
  return micros
}

function summarise(micros: Float64Array): WarmKeyBench['perCallMicros'] {
  const sorted = micros.toSorted()
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  const mean = sorted.reduce((sum, one) => sum + one, 0) / sorted.length
  return { mean, p50: at(0.5), p99: at(0.99), max: at(1) }
}

function show(micros: number): string {
  return `${micros.toFixed(1)} µs`
}
