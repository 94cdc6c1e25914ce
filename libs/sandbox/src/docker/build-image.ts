import type { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { cleanText, createBuildOutput, detailMaxBytes, lastBytes } from './build-output.ts'
import type { BuildOutput } from './build-output.ts'
import { EngineError, callEngine } from './engine-error.ts'
import { watchStepSize } from './watch-step-size.ts'

// A Dockerfile's image, by the engine's own (classic) builder. Closing the connection stops it: the engine kills and
// removes the container of the step that runs. A step runs as the engine runs any container, not under the profile of
// tools: memory, cores, network and time are limited here, the disk by what can be seen of it (watch-step-size.ts).

export type BuildRequest = {
  /** A tar archive with the Dockerfile. */
  context: Readable
  /** The name that the image gets. */
  tag: string
  labels: Readonly<Record<string, string>>
  buildArgs?: Readonly<Record<string, string>>
  /** The network of its RUN steps; absent: the engine's own choice. */
  networkMode?: string
  timeoutMs: number
  /** Of the image, and of what one step writes. */
  sizeMaxBytes: number
  memoryBytes: number
  cpus?: number
  signal: AbortSignal
  onProgress(line: string): void
}

export type BuildOutcome =
  | { kind: 'built'; id: string; bytes: number }
  /** The Dockerfile's fault, in the words of the build: its last lines and its error. */
  | { kind: 'failed'; detail: string }
  | { kind: 'timed_out'; lastLines: string }
  | { kind: 'too_large'; bytes: number }
  | { kind: 'cancelled' }
  /** What it is built from could not be read to its end. */
  | { kind: 'context_failed'; detail: string }
  | { kind: 'engine_failed'; detail: string }

const callTimeoutMs = 30_000
const cpuPeriodMicroseconds = 100_000

export async function buildImage(docker: Docker, request: BuildRequest): Promise<BuildOutcome> {
  const { context, timeoutMs, sizeMaxBytes, signal } = request
  const output = createBuildOutput((line) => request.onProgress(line))
  const end = createEnd()
  const cancel = () => end.set({ kind: 'cancelled' })
  const timer = setTimeout(
    () => end.set({ kind: 'timed_out', lastLines: output.read().lastLines }),
    timeoutMs,
  )
  const stopWatching = watchStepSize(docker, output.container, (bytes) => {
    if (bytes > sizeMaxBytes) end.set({ kind: 'too_large', bytes })
  })
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  context.on('error', ({ message }) => end.set({ kind: 'context_failed', detail: message }))
  try {
    const refusal = end.read() ?? (await run(docker, request, output, end.signal))
    return end.read() ?? refusal ?? (await finish(docker, request, output))
  } finally {
    clearTimeout(timer)
    stopWatching()
    signal.removeEventListener('abort', cancel)
    context.destroy()
  }
}

/** What ended the build from our side, whichever came first. */
function createEnd() {
  const controller = new AbortController()
  const reasons: BuildOutcome[] = []
  return {
    signal: controller.signal,
    read: () => reasons[0],
    set(outcome: BuildOutcome) {
      reasons.push(outcome)
      controller.abort()
    },
  }
}

/** Reads what the engine says until it has said all; an outcome if it did not take the build on. */
async function run(
  docker: Docker,
  request: BuildRequest,
  output: BuildOutput,
  abortSignal: AbortSignal,
): Promise<BuildOutcome | undefined> {
  try {
    const stream = await docker.buildImage(request.context, { ...optionsOf(request), abortSignal })
    for await (const chunk of stream) output.add(Buffer.from(chunk))
    return undefined
  } catch (error) {
    return readRefusal(error)
  }
}

function optionsOf(request: BuildRequest): Docker.ImageBuildOptions {
  const { tag, labels, buildArgs, networkMode, memoryBytes, cpus } = request
  const quota = {
    cpuperiod: cpuPeriodMicroseconds,
    cpuquota: Math.round((cpus ?? 0) * cpuPeriodMicroseconds),
  }
  return {
    t: tag,
    forcerm: true,
    labels: { ...labels },
    memory: memoryBytes,
    memswap: memoryBytes,
    ...(cpus === undefined ? {} : quota),
    ...(buildArgs === undefined ? {} : { buildargs: { ...buildArgs } }),
    ...(networkMode === undefined ? {} : { networkmode: networkMode }),
  }
}

function readRefusal(error: unknown): BuildOutcome {
  if (!(error instanceof Error)) return { kind: 'engine_failed', detail: 'unknown error' }
  const status = 'statusCode' in error ? error.statusCode : undefined
  const detail = cleanText(error.message.replace(/^\(HTTP code \d+\) [a-z ]+ - /, '')).trim()
  // A Dockerfile that cannot be read is refused before anything is built.
  const isAuthors =
    status === 400 || (status === 500 && detail.startsWith('Cannot locate specified Dockerfile'))
  const code = 'code' in error ? String(error.code) : 'unknown error'
  return { kind: isAuthors ? 'failed' : 'engine_failed', detail: lastBytes(detail || code, detailMaxBytes) }
}

async function finish(docker: Docker, request: BuildRequest, output: BuildOutput): Promise<BuildOutcome> {
  const { id, error, lastLines } = output.read()
  if (error !== undefined) return { kind: 'failed', detail: joinDetail(lastLines, error) }
  if (id === undefined) return { kind: 'engine_failed', detail: 'the engine did not say which image it made' }
  try {
    const { Size: bytes } = await callEngine(callTimeoutMs, () => docker.getImage(id).inspect())
    if (bytes <= request.sizeMaxBytes) return { kind: 'built', id, bytes }
    // By its name: what goes by another name as well was there before.
    await callEngine(callTimeoutMs, (abortSignal) => docker.getImage(request.tag).remove({ abortSignal }))
    return { kind: 'too_large', bytes }
  } catch (failure) {
    if (failure instanceof EngineError) return { kind: 'engine_failed', detail: failure.message }
    throw failure
  }
}

/** The error whole, and before it as many of the last lines as there is room for. */
function joinDetail(lastLines: string, error: string): string {
  const said = lastBytes(error, detailMaxBytes)
  const room = detailMaxBytes - Buffer.byteLength(said) - 1
  return room <= 0 || lastLines === '' ? said : `${lastBytes(lastLines, room)}\n${said}`
}
