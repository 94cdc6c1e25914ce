import { setTimeout as delay } from 'node:timers/promises'
import type { Launcher } from './launcher.ts'
import type { Outcome } from './outcome.ts'
import { runIn } from './run-in.ts'
import type { Sandbox, Sandboxes } from './sandboxes.ts'
import { isCoreWanted } from './stock/is-core-wanted.ts'
import type { StockLimits } from './stock/plan-stock.ts'
import { defaultStockLimits } from './stock/plan-stock.ts'
import type { Held, StockEvent } from './stock/stock.ts'
import { Stock } from './stock/stock.ts'

export type SandboxesOptions = {
  launcher: Launcher
  /** False where a tool can write in its init's place: its word that a sandbox is clean is worth nothing there. */
  isReuseSafe?: boolean
  limits?: Partial<StockLimits>
  /** True while a start ahead of need should wait; by default, while more work is runnable than there are cores. */
  isCoreWanted?: () => boolean
  now?: () => number
  onEvent?: (event: StockEvent) => void
}

const scrubTimeoutMs = 5_000
// The engine takes cores for a removal that whoever waits for the outcome needs for a moment.
const answerFirstMs = 20

/** The port over any implementation of a launcher. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const stock = new Stock({
    launcher: options.launcher,
    limits: { ...defaultStockLimits, ...options.limits },
    isCoreWanted: options.isCoreWanted ?? isCoreWanted,
    now: options.now ?? (() => performance.now()),
    onEvent: options.onEvent ?? (() => {}),
  })
  return {
    stock: (spec, count) => stock.require(spec, count),
    async take(spec, { topic, signal }) {
      const held = await stock.take(spec, topic, signal)
      return 'kind' in held
        ? held
        : { kind: 'taken', sandbox: openSandbox(held, stock, options.isReuseSafe ?? true) }
    },
    counts: () => stock.counts(),
    sweep: (liveWorkers) => options.launcher.sweep(liveWorkers),
    close: () => stock.close(),
  }
}

function openSandbox(held: Held, stock: Stock, isReuseSafe: boolean): Sandbox {
  let run: Promise<Outcome> | undefined
  let released: Promise<void> | undefined
  const { launched, spec, useCount } = held
  const isReused = isReuseSafe && useCount + 1 < spec.reuse

  const release = async () => {
    const outcome = await run
    if (outcome === undefined) return stock.giveBack(held)
    // Only a run that ended by itself leaves a sandbox worth keeping.
    const isGood = isReused && outcome.kind === 'exited' && (await launched.session.settled(scrubTimeoutMs))
    if (isGood) return stock.giveBack({ ...held, useCount: useCount + 1 })
    await delay(answerFirstMs)
    return launched.remove()
  }
  return {
    id: launched.id,
    source: held.source,
    run(request) {
      if (run !== undefined || released !== undefined)
        throw new Error('a sandbox runs once each time it is taken')
      run = runIn(launched, spec, request, isReused)
      return run
    },
    release: () => (released ??= release()),
  }
}
