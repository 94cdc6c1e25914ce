import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExitReport } from './frames.ts'
import { payloadMaxBytes } from './frames.ts'
import type { Launched } from './launcher.ts'
import type { Ending, Outcome } from './outcome.ts'
import type { RunRequest, SandboxSpec } from './sandboxes.ts'
import type { Ended, Heard } from './run-conversation.ts'
import { nothingHeard } from './run-conversation.ts'

const sigkill = 9
// The engine learns of an out-of-memory kill apart from the death, and on a busy machine after it.
const lateNewsMs = 500
// The init's own exit codes that tell of a lost connection. That the kernel refused it something (75) is not among them:
// a tool may take away the limits of an init of its own user, and would get a further attempt for it.
const infrastructureCodes = [70, 71, 73]
const tooLongArgument = 7
const kernelShortages = [11, 12, 23, 24]
// The init's word for a kernel without filters of system calls, which exec itself never says.
const noFilters = 38
// EX_PROTOCOL of sysexits.h. The init's own exit code tells nothing then: we closed its stdin.
const garbledCode = 76

/** One run, to its single outcome. */
export async function runIn(
  launched: Launched,
  spec: SandboxSpec,
  request: RunRequest,
  isReused: boolean,
): Promise<Outcome> {
  const startedAt = performance.now()
  const ownWallMs = () => performance.now() - startedAt
  if (Buffer.byteLength(request.payload) > payloadMaxBytes) {
    const detail = `the payload is larger than ${payloadMaxBytes} bytes`
    const rest = { ...heardIn(nothingHeard), isOutputComplete: false, wallMs: ownWallMs() }
    return { kind: 'start_failed', reason: 'payload', detail, ...rest }
  }
  const { session } = launched
  const ended = await session.run({ ...request, input: spec.input, isReused, scrub: spec.volumes })
  if (ended.kind === 'reported') {
    const ending = await readReport(ended.report, launched)
    return { ...ending, ...heardIn(ended), ...measured(ended.report) }
  }
  const rest = { ...heardIn(ended), isOutputComplete: false }
  if (ended.kind === 'not_started') return { ...readStartFailure(ended), ...rest, wallMs: ownWallMs() }
  const ending = await readLoss(ended, launched, request.signal?.aborted === true)
  return { ...ending, ...rest, wallMs: ownWallMs() }
}

async function readReport(report: ExitReport, launched: Launched): Promise<Ending> {
  const { verdict, signal } = report
  if (verdict === 'exited') return { kind: 'exited', code: report.code }
  if (verdict !== 'signaled') return { kind: verdict }
  // Where the init cannot see the kernel's counter, only the engine knows who killed.
  if (signal === sigkill && report.oomKills === undefined) {
    if ((await diedOfMemory(launched)) || (await delay(lateNewsMs).then(() => diedOfMemory(launched))))
      return { kind: 'out_of_memory' }
  }
  return endedBySignal(signal)
}

async function diedOfMemory(launched: Launched): Promise<boolean> {
  launched.session.close()
  const autopsy = await launched.autopsy()
  return autopsy.kind === 'dead' && autopsy.isOutOfMemory
}

function readStartFailure({ errno, detail }: Extract<Ended, { kind: 'not_started' }>): Ending {
  if (errno === tooLongArgument) return { kind: 'start_failed', reason: 'payload', detail }
  const reason = kernelShortages.includes(errno) || errno === noFilters ? 'engine' : 'entrypoint'
  return { kind: 'start_failed', reason, detail }
}

/** The sandbox said nothing final. Whatever it is called in the end, it is dead, or the engine is lost. */
async function readLoss(
  ended: Extract<Ended, { kind: 'overdue' | 'garbled' | 'broken' }> & Heard,
  launched: Launched,
  isCancelled: boolean,
): Promise<Ending> {
  const autopsy = await launched.autopsy()
  if (autopsy.kind === 'unknown') return { kind: 'engine_lost', detail: autopsy.detail }
  if (ended.kind === 'overdue') return { kind: overdueKinds[ended.limit] }
  if (autopsy.isOutOfMemory) return { kind: 'out_of_memory' }
  if (isCancelled) return { kind: 'cancelled' }
  // Where a kernel lets a tool write in its init's place, this is what the tool did: it gets no further attempt for it,
  // and no success either. It may have spoken before the init could say that it started.
  if (ended.kind === 'garbled') return { kind: 'exited', code: garbledCode }
  // It died before the tool began: whoever killed it, the tool did not.
  if (!ended.isStarted) return { kind: 'engine_lost', detail: ended.detail }
  if (infrastructureCodes.includes(autopsy.code)) return { kind: 'engine_lost', detail: ended.detail }
  return autopsy.code > 128 ? endedBySignal(autopsy.code - 128) : { kind: 'exited', code: autopsy.code }
}

const overdueKinds = { deadline: 'timed_out', cancel: 'cancelled', stdout: 'output_too_large' } as const

function endedBySignal(signal: number): Ending {
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0]
  return { kind: 'exited', code: 128 + signal, signal: name ?? `signal ${signal}` }
}

function heardIn({ stdout, stderrTail, stderrBytes, isHandedOver }: Heard): Omit<Heard, 'isStarted'> {
  return { stdout, stderrTail, stderrBytes, isHandedOver }
}

function measured(report: ExitReport) {
  return {
    isOutputComplete: !report.isOutputIncomplete,
    wallMs: report.wallMs,
    cpuMs: report.cpuMs,
    memoryPeakBytes: report.memoryPeakBytes ?? report.processPeakBytes,
  }
}
