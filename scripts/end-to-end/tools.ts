import type { WitnessTool } from '../house/write-witness-tools.ts'

const quiet = { network: 'none' } as const

// More than a worker has slots: what waits, waits in the queue, as calls of several tools would.
const all = { concurrency: 64 }

/** Tools that do nothing, one for each way to have a sandbox. */
export const tools = {
  /** A sandbox for each call, from stock. */
  stock: { name: 'bench_stock', mode: 'nothing', sandbox: { ...quiet, stock: 8 } },
  reuse: { name: 'bench_reuse', mode: 'nothing', constraints: all, sandbox: { ...quiet, reuse: 100_000 } },
  /** Never held back, so that every call is put into the queue; called while no worker runs. */
  waiting: {
    name: 'bench_waiting',
    mode: 'nothing',
    constraints: { concurrency: 10_000 },
    sandbox: { ...quiet, reuse: 100_000 },
  },
} as const satisfies Record<string, WitnessTool>
