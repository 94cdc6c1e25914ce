// The two directions of the init's protocol (../init/PROTOCOL.md), as pure functions. Under Linux no tool can forge a
// frame, under an old gVisor it can, and an image's author could replace the init: nothing that is read here is trusted
// beyond its own sandbox.

const headerBytes = 8
const chunkMaxBytes = 65_536
const textMaxBytes = 65_536
const reportBytes = 64

export const payloadMaxBytes = 6_291_456

const verdicts = [
  'exited',
  'signaled',
  'timed_out',
  'cancelled',
  'output_too_large',
  'out_of_memory',
] as const

export type ExitReport = {
  verdict: (typeof verdicts)[number]
  code: number
  signal: number
  /** Absent where the kernel does not tell. */
  oomKills?: number
  isOutputIncomplete: boolean
  cpuMs: number
  wallMs: number
  processPeakBytes: number
  memoryPeakBytes?: number
  stdoutBytes: number
  stderrBytes: number
  stderrDroppedBytes: number
}

export type InitFrame =
  | { kind: 'hello'; version: number; payloadMaxBytes: number }
  | { kind: 'started' }
  | { kind: 'not_started'; errno: number; detail: string }
  | { kind: 'stdout'; chunk: Buffer }
  | { kind: 'stderr'; chunk: Buffer }
  | { kind: 'report'; report: ExitReport }
  | { kind: 'again'; scrubMs: number; removed: number }
  | { kind: 'unclean'; detail: string }

export type RunFrame = {
  payload: Buffer
  input: 'argument' | 'stdin'
  isReused: boolean
  env: Readonly<Record<string, string>>
  scrub: readonly string[]
  deadlineMs: number
  stdoutMaxBytes: number
  stderrMaxBytes: number
  silenceMs: number
}

export class FrameError extends Error {
  override readonly name = 'FrameError'
}

export const keepAliveFrame = frame('K', Buffer.alloc(0))
export const cancelFrame = frame('C', Buffer.alloc(0))

export function encodeRun(run: RunFrame): Buffer {
  const env = Object.entries(run.env).map(([name, value]) => terminated(`${name}=${value}`))
  const scrub = run.scrub.map(terminated)
  if (env.length > 32 || scrub.length > 16)
    throw new FrameError('too many environment entries or directories')
  if (run.payload.length > payloadMaxBytes) throw new FrameError('the payload is too large')
  const head = Buffer.alloc(24)
  head[0] = 1
  head[1] = (run.input === 'stdin' ? 1 : 0) | (run.isReused ? 2 : 0)
  head[3] = env.length
  head[4] = scrub.length
  head.writeUInt32LE(run.deadlineMs, 8)
  head.writeUInt32LE(run.stdoutMaxBytes, 12)
  head.writeUInt32LE(run.stderrMaxBytes, 16)
  head.writeUInt32LE(run.silenceMs, 20)
  return frame('R', Buffer.concat([head, ...env, ...scrub, run.payload]))
}

/** Cuts a stream of bytes into frames. `read` throws a FrameError at the first byte that cannot be right. */
export function createFrameReader(): { read(chunk: Buffer): InitFrame[] } {
  let held: Buffer[] = []
  let heldBytes = 0
  let neededBytes = headerBytes

  return {
    read(chunk) {
      held.push(chunk)
      heldBytes += chunk.length
      // Joined only when a frame is whole: a large one that comes in small pieces is copied once.
      if (heldBytes < neededBytes) return []
      let bytes = held.length === 1 ? chunk : Buffer.concat(held, heldBytes)
      const frames: InitFrame[] = []
      neededBytes = headerBytes
      while (bytes.length >= headerBytes) {
        neededBytes = headerBytes + bodyLength(bytes)
        if (bytes.length < neededBytes) break
        frames.push(decode(bytes.readUInt8(0), bytes.subarray(headerBytes, neededBytes)))
        bytes = bytes.subarray(neededBytes)
        neededBytes = headerBytes
      }
      held = bytes.length > 0 ? [bytes] : []
      heldBytes = bytes.length
      return frames
    },
  }
}

/** Checked as soon as the header is there, so that no length makes us wait for gigabytes. */
function bodyLength(header: Buffer): number {
  const kind = String.fromCharCode(header.readUInt8(0))
  const length = header.readUInt32LE(4)
  const limits = bodyLimits[kind]
  if (limits === undefined || header.readUIntLE(1, 3) !== 0) throw new FrameError('not a frame of the init')
  if (length < limits.min || length > limits.max) throw new FrameError(`a frame ${kind} of ${length} bytes`)
  return length
}

const exactly = (bytes: number) => ({ min: bytes, max: bytes })
const bodyLimits: Record<string, { min: number; max: number }> = {
  H: exactly(8),
  S: exactly(0),
  F: { min: 4, max: 4 + textMaxBytes },
  O: { min: 1, max: chunkMaxBytes },
  E: { min: 1, max: chunkMaxBytes },
  X: exactly(reportBytes),
  A: exactly(8),
  N: { min: 0, max: textMaxBytes },
}

function decode(kind: number, body: Buffer): InitFrame {
  switch (String.fromCharCode(kind)) {
    case 'H':
      return { kind: 'hello', version: body.readUInt32LE(0), payloadMaxBytes: body.readUInt32LE(4) }
    case 'S':
      return { kind: 'started' }
    case 'F':
      return { kind: 'not_started', errno: body.readUInt32LE(0), detail: body.toString('utf8', 4) }
    case 'O':
      return { kind: 'stdout', chunk: body }
    case 'E':
      return { kind: 'stderr', chunk: body }
    case 'X':
      return { kind: 'report', report: decodeReport(body) }
    case 'A':
      return { kind: 'again', scrubMs: body.readUInt32LE(0) / 1_000, removed: body.readUInt32LE(4) }
    case 'N':
      return { kind: 'unclean', detail: body.toString('utf8') }
    default:
      throw new FrameError('not a frame of the init')
  }
}

function decodeReport(body: Buffer): ExitReport {
  const verdict = verdicts[body.readUInt8(0)]
  const flags = body.readUInt8(3)
  if (verdict === undefined || flags > 3) throw new FrameError('an exit report that says nothing known')
  const count = (offset: number) => Number(body.readBigUInt64LE(offset))
  return {
    verdict,
    code: body.readUInt8(1),
    signal: body.readUInt8(2),
    ...((flags & 1) === 1 ? { oomKills: body.readUInt32LE(4) } : {}),
    isOutputIncomplete: (flags & 2) === 2,
    cpuMs: count(8) / 1_000,
    wallMs: count(16) / 1_000,
    processPeakBytes: count(24),
    ...(count(32) > 0 ? { memoryPeakBytes: count(32) } : {}),
    stdoutBytes: count(40),
    stderrBytes: count(48),
    stderrDroppedBytes: count(56),
  }
}

function frame(kind: 'R' | 'K' | 'C', body: Buffer): Buffer {
  const head = Buffer.alloc(headerBytes)
  head.write(kind, 0, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function terminated(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`)
  if (bytes.indexOf(0) !== bytes.length - 1 || bytes.length > 4_096)
    throw new FrameError('an environment entry or a directory is too long or holds a zero byte')
  return bytes
}
