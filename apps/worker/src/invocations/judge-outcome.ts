import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { AttemptOutcome } from '@toolyard/invocations/decide-end'
import type { FailureClass, FailureKind } from '@toolyard/contract/invocations'
import type { Failure } from '@toolyard/invocations/invocation'
import type { Outcome, StartFailure, TakeFailure } from '@toolyard/sandbox/outcome'
import { readAnswer } from './read-answer.ts'
import type { RedactedRaw } from './redact-raw.ts'
import { redactRaw } from './redact-raw.ts'
import type { RunEnd, StopReason } from './run-end.ts'

export type JudgedAttempt = {
  /** Undefined where it could not be read: then nothing ran. */
  manifest: Manifest | undefined
  params: Readonly<Record<string, Json>>
  secrets: readonly string[]
  /** Of all tools. */
  knownNames: readonly string[]
  stopReason: StopReason | undefined
}

export type Judged = {
  outcome: AttemptOutcome
  raw?: RedactedRaw
  /** The engine lacks an image that it was believed to have. */
  doubtsImage: boolean
}

/**
 * What an attempt's end is called. The tool answers for what it does within its sandbox and for its limits; for the
 * engine, the image, the settings and this worker the tool does not answer, and is never rewarded or punished.
 */
export function judgeOutcome(end: RunEnd, attempt: JudgedAttempt): Judged {
  if (end.kind === 'ran') return judgeRun(end.outcome, attempt)
  const doubtsImage = end.kind === 'no_sandbox' && end.failure.kind === 'image_missing'
  return { outcome: judgeBeforeRun(end, attempt.stopReason), doubtsImage }
}

function judgeBeforeRun(
  end: Exclude<RunEnd, { kind: 'ran' }>,
  reason: StopReason | undefined,
): AttemptOutcome {
  switch (end.kind) {
    case 'no_sandbox':
      return judgeTake(end.failure, reason)
    case 'stopped':
      return judgeStop(reason, false)
    case 'lease_gone':
      return infrastructure('internal', 'The worker no longer held the call when the tool was to start')
    case 'payload_too_large': {
      const { part, bytes, bytesMax } = end.tooLarge
      return failed('payload_too_large', 'caller', `The ${part} has ${bytes} bytes, ${bytesMax} is the most`)
    }
    case 'memory_too_large': {
      const [needed, total] = [end.neededBytes, end.totalBytes].map(mebibytes)
      const message = `The tool asks for ${needed} MiB of memory, and this worker has ${total} MiB for tools`
      return failed('internal', 'platform', message)
    }
    case 'manifest_unreadable':
      return failed(
        'internal',
        'platform',
        'The manifest of this version is not valid any more: reload the tools',
      )
    case 'not_configured':
      // It was accepted while the tool was configured; settings were taken away since.
      return failed('internal', 'platform', `The tool lacks settings: ${end.keys.join(', ')}`)
    case 'settings_unreadable':
      return failed('internal', 'platform', 'The settings of the tool cannot be read')
    case 'broken':
      return infrastructure('internal', 'Something broke on our side', end.isHandedOver)
    default:
      return unknown(end)
  }
}

function judgeTake(failure: TakeFailure, reason: StopReason | undefined): AttemptOutcome {
  switch (failure.kind) {
    case 'cancelled':
      return judgeStop(reason, false)
    case 'image_missing':
      return infrastructure('image_unavailable', imageGone)
    case 'engine_lost':
      return infrastructure('internal', 'The container engine could not be reached')
    case 'start_failed':
      return judgeStart(failure, false)
    default:
      return unknown(failure)
  }
}

function judgeRun(outcome: Outcome, attempt: JudgedAttempt): Judged {
  const raw = redactRaw(outcome, attempt.secrets)
  const isEmpty = raw.stdout.length === 0 && raw.stderrTail.length === 0
  return {
    outcome: judgeEnding(outcome, raw, attempt),
    ...(isEmpty ? {} : { raw }),
    doubtsImage: outcome.kind === 'image_missing',
  }
}

function judgeEnding(outcome: Outcome, raw: RedactedRaw, attempt: JudgedAttempt): AttemptOutcome {
  const { isHandedOver } = outcome
  switch (outcome.kind) {
    case 'exited':
      return judgeExit(outcome, raw, attempt)
    case 'timed_out': {
      const seconds = attempt.manifest?.constraints.timeout_seconds
      return failed('timeout', 'internal', `The tool did not end within ${seconds} s`)
    }
    case 'out_of_memory': {
      const memory = attempt.manifest?.sandbox.memory
      return failed('out_of_memory', 'internal', `The tool needed more than its ${memory} of memory`)
    }
    case 'output_too_large':
      return failed('output_too_large', 'internal', 'The tool wrote more than 1 MiB to stdout')
    case 'cancelled':
      return judgeStop(attempt.stopReason, isHandedOver)
    case 'image_missing':
      return infrastructure('image_unavailable', imageGone, isHandedOver)
    case 'engine_lost':
      return infrastructure('sandbox_lost', 'The sandbox was lost with its engine', isHandedOver)
    case 'start_failed':
      return judgeStart(outcome, isHandedOver)
    default:
      return unknown(outcome)
  }
}

function judgeExit(
  outcome: Extract<Outcome, { kind: 'exited' }>,
  raw: RedactedRaw,
  attempt: JudgedAttempt,
): AttemptOutcome {
  // Without the init's report of what it used, the init did not outlive the tool: engine and worker did.
  if (outcome.cpuMs === undefined || attempt.manifest === undefined)
    return failed('sandbox_lost', 'internal', 'The sandbox died under the tool', outcome.code)
  return readAnswer(outcome, raw, { ...attempt, manifest: attempt.manifest })
}

function judgeStart(failure: StartFailure, isHandedOver: boolean): AttemptOutcome {
  switch (failure.reason) {
    case 'entrypoint':
      return failed('image_unavailable', 'internal', 'The ENTRYPOINT of the image could not be started')
    case 'payload':
      return failed('payload_too_large', 'caller', 'The payload is larger than the tool can be given')
    case 'refused':
      // Our own words for the author, and as true the next time.
      return failed('image_unavailable', 'platform', `The tool cannot run here: ${failure.detail}`)
    case 'engine':
    case 'timeout':
      return infrastructure('internal', 'The sandbox could not be started', isHandedOver)
    default:
      return unknown(failure.reason)
  }
}

function judgeStop(reason: StopReason | undefined, isHandedOver: boolean): AttemptOutcome {
  if (reason === 'cancel' || reason === 'drain') return { kind: 'stopped', isHandedOver }
  const message =
    reason === undefined ? 'The sandbox was stopped, and not by us' : 'The worker lost its hold on the call'
  return infrastructure('sandbox_lost', message, isHandedOver)
}

function unknown(end: never): never {
  throw new Error(`an attempt ended in a way that nobody knows: ${JSON.stringify(end)}`)
}

const imageGone = 'The image of the tool is not on the engine any more; it is made again'

const mebibytes = (bytes: number) => Math.ceil(bytes / 1_048_576)

function failed(kind: FailureKind, by: FailureClass, message: string, exitCode?: number): AttemptOutcome {
  const failure: Failure = { kind, class: by, message }
  return { kind: 'failed', failure: exitCode === undefined ? failure : { ...failure, exit_code: exitCode } }
}

function infrastructure(kind: FailureKind, message: string, isHandedOver = false): AttemptOutcome {
  return { kind: 'infrastructure', failure: { kind, class: 'platform', message }, isHandedOver }
}
