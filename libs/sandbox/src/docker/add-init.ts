import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type Docker from 'dockerode'
import { initPath, labelPrefix, namePrefix } from './container-profile.ts'
import { EngineError, callEngine } from './engine-error.ts'
import type { ImageFacts } from './image-facts.ts'
import { isRootUser, readImageFacts } from './image-facts.ts'
import { removeContainer } from './remove-container.ts'
import type { UserIds } from './resolve-user.ts'
import { resolveUser } from './resolve-user.ts'
import { readFirstFile, writeTar } from './tar.ts'

// The last step of making a tool's image: one layer with one file. Everything else stays as its author wrote it.

export type InitRequest = {
  /** The image as its Dockerfile made it. */
  image: string
  /** The name that the finished image gets. */
  target: string
  /** The init's binary, for the engine's architecture. */
  init: Buffer
  /** The manifest's wish; goes before the image's own USER. */
  user?: string
  instance: string
  worker: string
  labels?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

export type ToolImage = Omit<ImageFacts, 'user'> & { id: string; user?: UserIds }

export type AddedInit =
  | { kind: 'added'; image: ToolImage }
  /** The author's to mend. */
  | { kind: 'refused'; detail: string }
  | { kind: 'image_missing' }
  | { kind: 'engine_failed'; detail: string }

const callTimeoutMs = 30_000
const buildTimeoutMs = 120_000
const userFileMaxBytes = 1_048_576

export async function addInit(docker: Docker, request: InitRequest): Promise<AddedInit> {
  try {
    const read = await inspectImage(docker, request)
    if ('refused' in read) return { kind: 'refused', detail: read.refused }
    const { user: imageUser, ...facts } = read.facts
    const user = request.user ?? imageUser
    const looked = await lookInside(docker, read.id, request, user)
    if ('refused' in looked) return { kind: 'refused', detail: looked.refused }
    const id = await build(docker, read.id, request)
    return { kind: 'added', image: { ...facts, ...looked, id } }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.status === 404) return { kind: 'image_missing' }
    return { kind: 'engine_failed', detail: error.message }
  }
}

async function inspectImage(docker: Docker, { image: name, signal }: InitRequest) {
  const image = await callEngine(callTimeoutMs, () => docker.getImage(name).inspect(), signal)
  const { Entrypoint, OnBuild, Volumes, User } = image.Config
  const read = readImageFacts({
    architecture: image.Architecture,
    entrypoint: typeof Entrypoint === 'string' ? [Entrypoint] : (Entrypoint ?? []),
    onBuild: asList(OnBuild),
    volumes: Object.keys(Volumes ?? {}),
    user: User ?? '',
  })
  return 'refused' in read ? read : { ...read, id: image.Id }
}

const asList = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** Reads files of an image through a container that is never started. */
async function lookInside(
  docker: Docker,
  image: string,
  { instance, worker }: InitRequest,
  user: string | undefined,
): Promise<{ user?: UserIds } | { refused: string }> {
  const name = `${namePrefix}${randomUUID()}`
  const labels = { [`${labelPrefix}instance`]: instance, [`${labelPrefix}worker`]: worker }
  const body = { Image: image, Entrypoint: [initPath], Labels: labels, HostConfig: { NetworkMode: 'none' } }
  const create: Docker.ContainerCreateOptions & { _query: object; _body: object } = {
    _query: { name },
    _body: body,
  }
  // Not cut off by the signal: a container that the engine makes after we have gone would stay.
  await callEngine(callTimeoutMs, (abortSignal) => docker.createContainer({ ...create, abortSignal }))
  try {
    const folder = initPath.slice(0, initPath.lastIndexOf('/'))
    if ((await readPath(docker, name, folder)) !== undefined)
      return { refused: `the image has something at ${folder}, which is kept for the sandbox` }
    if (user === undefined || isRootUser(user)) return user === undefined ? {} : { user: { uid: 0, gid: 0 } }
    const resolved = resolveUser(
      user,
      await readText(docker, name, '/etc/passwd'),
      await readText(docker, name, '/etc/group'),
    )
    return 'unknown' in resolved ? { refused: resolved.unknown } : { user: resolved }
  } finally {
    await removeContainer(docker, name)
  }
}

async function readText(docker: Docker, container: string, path: string): Promise<string> {
  const tar = await readPath(docker, container, path)
  return (tar && readFirstFile(tar)?.toString('utf8')) ?? ''
}

/** A path's tar archive, cut where a file of users has no business to be that long; undefined if nothing is there. */
async function readPath(docker: Docker, container: string, path: string): Promise<Buffer | undefined> {
  try {
    return await callEngine(callTimeoutMs, async (abortSignal) => {
      const archive = await docker.getContainer(container).getArchive({ path, abortSignal })
      return buffer(upTo(archive, userFileMaxBytes))
    })
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined
    throw error
  }
}

async function* upTo(stream: NodeJS.ReadableStream, maxBytes: number): AsyncGenerator<Buffer> {
  let left = maxBytes
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    yield bytes.subarray(0, left)
    left -= bytes.length
    if (left <= 0) return
  }
}

async function build(docker: Docker, image: string, request: InitRequest): Promise<string> {
  const { target, init, labels, signal } = request
  const context = writeTar([
    { name: 'Dockerfile', content: Buffer.from(`FROM ${image}\nCOPY init ${initPath}\n`), mode: 0o644 },
    { name: 'init', content: init, mode: 0o555 },
  ])
  const call = async (abortSignal: AbortSignal) => {
    const options = { t: target, forcerm: true, networkmode: 'none', labels: { ...labels }, abortSignal }
    const progress = await docker.buildImage(Readable.from([context]), options)
    const steps = await new Promise<unknown[]>((resolve, reject) => {
      docker.modem.followProgress(progress, (error, output) =>
        error === null ? resolve(output) : reject(error),
      )
    })
    return readBuilt(steps)
  }
  return callEngine(buildTimeoutMs, call, signal)
}

/** The engine answers 200 before it begins; how it went stands in what follows. */
function readBuilt(steps: readonly unknown[]): string {
  let id: string | undefined
  for (const step of steps) {
    if (typeof step !== 'object' || step === null) continue
    if ('error' in step) throw new EngineError(String(step.error), undefined)
    if ('aux' in step && typeof step.aux === 'object' && step.aux !== null && 'ID' in step.aux)
      id = String(step.aux.ID)
  }
  if (id === undefined) throw new EngineError('the engine did not say which image it made', undefined)
  return id
}
