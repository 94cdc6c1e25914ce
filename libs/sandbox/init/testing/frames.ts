export type Frame = { readonly kind: string; readonly body: Buffer }

export type RunOptions = {
  payload?: string | Buffer
  onStdin?: boolean
  reuse?: boolean
  deadlineMs?: number
  stdoutCap?: number
  stderrCap?: number
  silenceMs?: number
  limits?: ReadonlyArray<readonly [resource: number, limit: bigint]>
  environment?: readonly string[]
  directories?: readonly string[]
}

const verdicts = [
  'exited',
  'signaled',
  'timed_out',
  'cancelled',
  'output_too_large',
  'out_of_memory',
] as const

export function frame(kind: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(8)
  header.write(kind, 'latin1')
  header.writeUInt32LE(body.length, 4)
  return Buffer.concat([header, body])
}

export function runBody(options: RunOptions): Buffer {
  const { limits = [], environment = [], directories = [] } = options
  const fixed = Buffer.alloc(24)
  fixed[0] = 1
  fixed[1] = (options.onStdin === true ? 1 : 0) | (options.reuse === true ? 2 : 0)
  fixed[2] = limits.length
  fixed[3] = environment.length
  fixed[4] = directories.length
  fixed.writeUInt32LE(options.deadlineMs ?? 10_000, 8)
  fixed.writeUInt32LE(options.stdoutCap ?? 1 << 20, 12)
  fixed.writeUInt32LE(options.stderrCap ?? 1 << 18, 16)
  fixed.writeUInt32LE(options.silenceMs ?? 8000, 20)
  const resources = limits.map(([resource, limit]) => {
    const entry = Buffer.alloc(12)
    entry.writeUInt32LE(resource)
    entry.writeBigUInt64LE(limit, 4)
    return entry
  })
  const strings = [...environment, ...directories].map((text) => Buffer.from(`${text}\0`))
  return Buffer.concat([fixed, ...resources, ...strings, Buffer.from(options.payload ?? '')])
}

export function readReport(body: Buffer) {
  return {
    verdict: verdicts[body.readUInt8(0)],
    code: body.readUInt8(1),
    signal: body.readUInt8(2),
    oomKnown: (body.readUInt8(3) & 1) !== 0,
    incomplete: (body.readUInt8(3) & 2) !== 0,
    oomKills: body.readUInt32LE(4),
    cpuUs: Number(body.readBigUInt64LE(8)),
    wallUs: Number(body.readBigUInt64LE(16)),
    peakBytes: Number(body.readBigUInt64LE(24)),
    cgroupPeak: Number(body.readBigUInt64LE(32)),
    stdoutBytes: Number(body.readBigUInt64LE(40)),
    stderrBytes: Number(body.readBigUInt64LE(48)),
    stderrDropped: Number(body.readBigUInt64LE(56)),
  }
}

/** Cuts a stream into frames; ends with the stream, and fails when that happens inside of a frame. */
export async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame, undefined> {
  let left: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk])
    while (left.length >= 8 && left.length >= 8 + left.readUInt32LE(4)) {
      const end = 8 + left.readUInt32LE(4)
      if (left[1] !== 0 || left[2] !== 0 || left[3] !== 0) throw new Error('the reserved bytes are not zero')
      yield { kind: String.fromCharCode(left.readUInt8(0)), body: left.subarray(8, end) }
      left = left.subarray(end)
    }
  }
  if (left.length > 0) throw new Error(`the stream ended inside of a frame, ${left.length} bytes are left`)
}
