import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt } from '@toolyard/invocations/claim'
import type { Finished } from '@toolyard/invocations/finish'
import type { FinisherInput } from '@toolyard/invocations/finisher'
import type { Logger } from '@toolyard/log/logger'
import type { WideEvent } from '@toolyard/log/wide-event'
import { startWideEvent } from '@toolyard/log/wide-event'
import type { AttemptCounts } from './count-attempts.ts'
import { finishUntilCommitted } from './finish-until-committed.ts'
import type { Leases } from './hold-leases.ts'
import type { Judged } from './judge-outcome.ts'
import { judgeOutcome } from './judge-outcome.ts'
import type { RunEnd } from './run-end.ts'
import type { RunDeps, Running } from './run-in-sandbox.ts'
import { runInSandbox } from './run-in-sandbox.ts'

export type AttemptDeps = RunDeps & {
  leases: Pick<Leases, 'hold' | 'count'>
  /** One try: see the finisher of libs/invocations. */
  finish: (input: FinisherInput) => Promise<Finished>
  /** Aborts when this worker has no time left. */
  ending: AbortSignal
  /** Of all tools. */
  knownNames: () => readonly string[]
  doubtImages: () => void
  log: Logger
  count: AttemptCounts
  /** How long a sandbox may outlive the loss of its engine. */
  silenceMs?: number
}

// An init that hears nothing for 8 s kills everything; a second for the kill.
const silenceDefaultMs = 9_000

/** One attempt from its claim to its commit. Its faults are its own: it never throws. */
export async function runAttempt(deps: AttemptDeps, attempt: Attempt, sinceMs: number): Promise<void> {
  const { log, count, leases } = deps
  const { id, tool, hash } = attempt
  const event = startWideEvent(log, 'attempt', {
    invocation: id,
    tool,
    hash,
    attempt: attempt.attempt,
    queue_ms: Math.round(attempt.queueMs),
  })
  const held = leases.hold(attempt, sinceMs)
  const taken = new AsyncDisposableStack()
  count.running(leases.count())
  count.queued(tool, attempt.queueMs)
  try {
    await live(deps, { attempt, held, event, taken, manifest: undefined, secrets: [], isHandedOver: false })
    event.emit('info')
  } catch (error) {
    // The lease runs out, and the row is taken back: nothing is lost by it but time.
    event.set({ outcome: 'broken', error })
    event.emit('error')
  } finally {
    await taken.disposeAsync().catch((error: unknown) => log.error('a sandbox was not released', { error }))
    held.release()
    count.running(leases.count())
  }
}

async function live(deps: AttemptDeps, running: Running & { event: WideEvent }): Promise<void> {
  const { attempt, held, event } = running
  const end = await runInSandbox(deps, running).catch((error: unknown): RunEnd => {
    deps.log.error('an attempt broke', { invocation: attempt.id, error })
    return { kind: 'broken', isHandedOver: running.isHandedOver }
  })
  if (end.kind === 'ran') noteRun(deps, running, end)
  if (mayLive(end)) await outlive(running.taken, deps.silenceMs ?? silenceDefaultMs)
  held.settle()
  const stopReason = held.stopReason()
  if (stopReason === 'lost') return noteEnd(deps, running, 'lost')
  const { manifest, secrets } = running
  const knownNames = deps.knownNames()
  const judged = judgeOutcome(end, { manifest, params: attempt.params, secrets, knownNames, stopReason })
  if (judged.doubtsImage) deps.doubtImages()
  const startedMs = performance.now()
  const finished = await finishUntilCommitted(
    { tool: attempt.tool, hold: attempt, outcome: judged.outcome, raw: judged.raw },
    { finish: deps.finish, signal: deps.ending, log: deps.log, onRetry: () => deps.count.finishRetried() },
  )
  event.set({ finish_ms: round(performance.now() - startedMs), finished: finished.kind })
  if (finished.kind === 'closed') event.set({ status: finished.status })
  noteEnd(deps, running, finished.kind === 'lost' ? 'lost' : nameOf(judged, stopReason))
}

/** I5: where nobody can say that the sandbox is dead, its row must not be claimed before it is. */
const mayLive = (end: RunEnd) =>
  (end.kind === 'ran' && end.outcome.kind === 'engine_lost' && end.outcome.isHandedOver) ||
  (end.kind === 'broken' && end.isHandedOver)

async function outlive(taken: AsyncDisposableStack, silenceMs: number): Promise<void> {
  await Promise.all([taken.disposeAsync(), delay(silenceMs)])
}

function noteRun(
  { count }: AttemptDeps,
  { attempt, event }: Running,
  { outcome }: Extract<RunEnd, { kind: 'ran' }>,
): void {
  count.ran(attempt.tool, outcome.wallMs)
  event.set({
    run_ms: round(outcome.wallMs),
    ending: outcome.kind,
    stdout_bytes: outcome.stdout.length,
    stderr_bytes: outcome.stderrBytes,
    ...(outcome.cpuMs === undefined ? {} : { cpu_ms: round(outcome.cpuMs) }),
    ...(outcome.memoryPeakBytes === undefined ? {} : { memory_peak_bytes: outcome.memoryPeakBytes }),
    // The engine's or the init's own words, of which a tool has no part.
    ...('detail' in outcome ? { detail: outcome.detail } : {}),
  })
}

function noteEnd({ count }: AttemptDeps, { attempt, event }: Running, outcome: string): void {
  event.set({ outcome })
  count.ended(attempt.tool, outcome)
}

/** Of this attempt, not of its invocation: a retry may follow. */
function nameOf({ outcome }: Judged, stopReason: string | undefined): string {
  if (outcome.kind === 'succeeded') return 'succeeded'
  if (outcome.kind === 'stopped') return stopReason ?? 'stopped'
  return outcome.failure.kind
}

const round = (ms: number) => Math.round(ms * 100) / 100
