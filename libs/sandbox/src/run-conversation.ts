import type { Channel } from './channel.ts'
import type { ExitReport, InitFrame } from './frames.ts'
import { cancelFrame, encodeRun, keepAliveFrame } from './frames.ts'
import { createHead } from './head.ts'
import type { RunRequest } from './sandboxes.ts'
import { createTail } from './tail.ts'

// One run. The init enforces deadline, caps and cancel itself, but it lives inside the sandbox, so each is watched from
// here too, a little later: whoever is overdue is given up, and the caller learns over which limit.

export type SessionRun = RunRequest & {
  input: 'argument' | 'stdin'
  isReused: boolean
  scrub: readonly string[]
}

export type Heard = {
  stdout: Buffer
  stderrTail: Buffer
  stderrBytes: number
  isHandedOver: boolean
  /** The tool's program was on its way, by the init's own word. */
  isStarted: boolean
}

export type Ended =
  | { kind: 'reported'; report: ExitReport }
  | { kind: 'not_started'; errno: number; detail: string }
  /** We gave up on it: its last second is not known, what it had to obey is. */
  | { kind: 'overdue'; limit: 'deadline' | 'cancel' | 'stdout' }
  /** What was said makes no sense: an init keeps its word, so somebody in the sandbox spoke in its place. */
  | { kind: 'garbled'; detail: string }
  | { kind: 'broken'; detail: string }

export type Conversation = {
  hear(frame: InitFrame): void
  garble(detail: string): void
  breakOff(detail: string): void
}

const keepAliveMs = 2_000
const silenceMs = 8_000
const stderrTailBytes = 8_192
// The init's own SIGTERM, 500 ms and SIGKILL, and as much again for its last words to arrive.
const killGraceMs = 500
const lastWordsMs = 500

export function startConversation(
  channel: Channel,
  request: SessionRun,
  finish: (ended: Ended & Heard) => void,
): Conversation {
  const bytes = encode(request)
  const heard = createHearing(request)
  let isOver = false
  let isStarted = false
  let patience: NodeJS.Timeout | undefined

  const end = (ended: Ended) => {
    if (isOver) return
    isOver = true
    clearInterval(keepAlive)
    clearTimeout(deadline)
    clearTimeout(patience)
    request.signal?.removeEventListener('abort', cancel)
    // From the first byte of the request on, the tool may have begun.
    finish({ ...ended, ...heard.read(), isStarted, isHandedOver: ended.kind !== 'not_started' })
  }
  const cancel = () => {
    channel.send(cancelFrame)
    patience = setTimeout(() => end({ kind: 'overdue', limit: 'cancel' }), killGraceMs + lastWordsMs)
  }
  const keepAlive = setInterval(() => channel.send(keepAliveFrame), keepAliveMs)
  const deadline = setTimeout(
    () => end({ kind: 'overdue', limit: 'deadline' }),
    request.timeoutMs + killGraceMs + lastWordsMs,
  )
  channel.send(bytes)
  if (request.signal?.aborted) cancel()
  else request.signal?.addEventListener('abort', cancel, { once: true })

  return {
    hear(frame) {
      switch (frame.kind) {
        case 'started':
          isStarted = true
          return undefined
        case 'stdout':
          return heard.stdout(frame.chunk) ? undefined : end({ kind: 'overdue', limit: 'stdout' })
        case 'stderr':
          return heard.stderr(frame.chunk)
        case 'not_started':
          // Said after the start it would hide what the tool has done.
          return end(
            isStarted ? { kind: 'garbled', detail: 'the init took back that the tool started' } : frame,
          )
        case 'report':
          heard.skipStderr(frame.report.stderrDroppedBytes)
          return end({ kind: 'reported', report: frame.report })
        case 'hello':
        case 'again':
        case 'unclean':
          return end({ kind: 'garbled', detail: `the init said ${frame.kind} during a run` })
      }
    },
    garble: (detail) => end({ kind: 'garbled', detail }),
    breakOff: (detail) => end({ kind: 'broken', detail }),
  }
}

function createHearing({ stdoutMaxBytes, stderrMaxBytes, onStderr }: SessionRun) {
  const head = createHead(stdoutMaxBytes)
  const tail = createTail(stderrTailBytes)
  return {
    /** False when it is more than an init that keeps its word would send. */
    stdout(chunk: Buffer): boolean {
      head.add(chunk)
      return head.total() <= stdoutMaxBytes
    },
    stderr(chunk: Buffer): void {
      tail.add(chunk)
      if (tail.total() <= stderrMaxBytes) onStderr?.(chunk)
    },
    skipStderr: (bytes: number) => tail.skip(bytes),
    read: () => ({
      stdout: head.read(),
      stderrTail: tail.read(),
      stderrBytes: tail.total(),
    }),
  }
}

export const nothingHeard: Heard = {
  stdout: Buffer.alloc(0),
  stderrTail: Buffer.alloc(0),
  stderrBytes: 0,
  isHandedOver: false,
  isStarted: false,
}

function encode(request: SessionRun): Buffer {
  return encodeRun({
    payload: Buffer.from(request.payload),
    input: request.input,
    isReused: request.isReused,
    env: request.env,
    scrub: request.scrub,
    deadlineMs: request.timeoutMs,
    stdoutMaxBytes: request.stdoutMaxBytes,
    stderrMaxBytes: request.stderrMaxBytes,
    silenceMs,
  })
}
