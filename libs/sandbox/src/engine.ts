import { openEngine } from './docker/open-engine.ts'
import { engineIdOf } from './engine-id.ts'

export type EngineAnswer =
  | { state: 'ready'; id: string; version: string; apiVersion: string }
  | { state: 'absent'; detail: string }
  | { state: 'forbidden'; detail: string }
  | { state: 'too_old'; detail: string; apiVersion: string }

export const defaultDockerHost = 'unix:///var/run/docker.sock'

const apiVersionMin = '1.41'
const probeTimeoutMs = 3_000

/** Asks the engine who it is. An engine that is not there is an answer, not an error. */
export async function probeEngine(
  dockerHost: string = defaultDockerHost,
  timeoutMs = probeTimeoutMs,
): Promise<EngineAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const docker = openEngine(dockerHost, timeoutMs)
    const [version, { id, serverVersion }] = await withSignal(
      signal,
      Promise.all([docker.version(), docker.info().then(readInfo)]),
    )
    if (isOlder(version.ApiVersion, apiVersionMin)) {
      const detail = `speaks API ${version.ApiVersion}, ${apiVersionMin} or newer is needed`
      return { state: 'too_old', detail, apiVersion: version.ApiVersion }
    }
    return { state: 'ready', id, version: serverVersion, apiVersion: version.ApiVersion }
  } catch (error) {
    if (signal.aborted) return { state: 'absent', detail: `did not answer within ${timeoutMs} ms` }
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    const detail = code ?? (error instanceof Error ? error.message : 'unknown error')
    return { state: code === 'EACCES' ? 'forbidden' : 'absent', detail }
  }
}

/** Removes every container of an engine that belongs to this installation alone. Returns how many there were. */
export async function clearEngine(dockerHost: string): Promise<number> {
  const docker = openEngine(dockerHost)
  const containers = await docker.listContainers({ all: true })
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })))
  return containers.length
}

async function withSignal<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    // The loser may still fail later, when nobody waits for it any more.
    work.catch(() => {})
  }
}

function readInfo(info: unknown): { id: string; serverVersion: string } {
  const id = engineIdOf(info)
  if (id !== undefined && typeof info === 'object' && info !== null && 'ServerVersion' in info)
    return { id, serverVersion: String(info.ServerVersion) }
  throw new Error('something that is not a Docker engine answers there')
}

function isOlder(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [minMajor = 0, minMinor = 0] = minimum.split('.').map(Number)
  return major < minMajor || (major === minMajor && minor < minMinor)
}
