import { randomInt, randomUUID } from 'node:crypto'
import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import type { LaunchFailure, Launched, Launcher } from '../launcher.ts'
import type { SandboxSpec } from '../sandboxes.ts'
import { Session } from '../session.ts'
import { attachChannel } from './channel.ts'
import type { SandboxPolicy } from './container-profile.ts'
import { containerProfile, namePrefix } from './container-profile.ts'
import { dissectContainer } from './dissect-container.ts'
import { EngineError, callEngine } from './engine-error.ts'
import { removeContainer } from './remove-container.ts'
import { sweepContainers } from './sweep-containers.ts'

export type DockerLauncherOptions = {
  docker: Docker
  /** This installation's id: nothing without it is ever touched. */
  instance: string
  worker: string
  policy: SandboxPolicy
  startTimeoutMs?: number
  onStuck: (stuck: { id: string; detail: string }) => void
}

// Limits of the kernel are counted per user id across all containers, so no two sandboxes share one. The range lies
// above those that user databases and container managers commonly give out.
const uniqueIds = { min: 2_001_000_000, max: 2_147_000_000 }
const startTimeoutMaxMs = 30_000

export function createDockerLauncher(options: DockerLauncherOptions): Launcher {
  const { docker } = options
  const timeoutMs = options.startTimeoutMs ?? startTimeoutMaxMs
  /** Containers of ours that are in use or on their way out; the sweep leaves them alone. */
  const known = new Set<string>()

  return {
    async launch(spec) {
      const { instance, worker, policy } = options
      const labels = { instance, worker, tool: spec.tool, image: spec.image }
      const made = containerProfile(spec, policy, labels, randomInt(uniqueIds.min, uniqueIds.max))
      if (made.kind === 'refused') return { kind: 'start_failed', reason: 'refused', detail: made.detail }
      const name = `${namePrefix}${randomUUID()}`
      const forget = () => known.delete(name)
      known.add(name)
      const deadline = performance.now() + timeoutMs
      const leftMs = () => Math.max(1, deadline - performance.now())
      const remove = async () => {
        const removed = await removeContainer(docker, name)
        forget()
        if (removed.kind === 'stuck') options.onStuck({ id: name, detail: removed.detail })
      }
      try {
        const launched = await startContainer(docker, { name, body: made.body, leftMs, remove })
        if ('launched' in launched) return { kind: 'launched', launched: launched.launched }
        // Not waited for: the caller's answer does not depend on how long an engine takes to clean up.
        remove().catch(forget)
        return launched.failure
      } catch (error) {
        remove().catch(forget)
        return launchFailure(error, performance.now() >= deadline, spec)
      }
    },
    sweep: (liveWorkers) =>
      sweepContainers(docker, { instance: options.instance, worker: options.worker, liveWorkers, known }),
  }
}

type Start = {
  name: string
  body: ContainerCreateOptions
  leftMs: () => number
  remove: () => Promise<void>
}

async function startContainer(
  docker: Docker,
  { name, body, leftMs, remove }: Start,
): Promise<{ launched: Launched } | { failure: LaunchFailure }> {
  // The client puts its whole argument into the address as well, unless told what goes where.
  const create: ContainerCreateOptions & { _query: object; _body: object } = { _query: { name }, _body: body }
  await callEngine(leftMs(), (abortSignal) => docker.createContainer({ ...create, abortSignal }))
  const channel = await attachChannel(docker, name, leftMs())
  const session = new Session(channel)
  try {
    await callEngine(leftMs(), (abortSignal) => docker.getContainer(name).start({ abortSignal }))
  } catch (error) {
    session.close()
    throw error
  }
  const hello = await session.hello(leftMs())
  if (hello.kind === 'ready') {
    return {
      launched: { id: name, session, autopsy: () => dissectContainer(docker, name), remove: closeFirst },
    }
  }
  session.close()
  const detail = hello.kind === 'timeout' ? 'its init said nothing' : hello.detail
  return {
    failure: { kind: 'start_failed', reason: hello.kind === 'timeout' ? 'timeout' : 'engine', detail },
  }

  function closeFirst(): Promise<void> {
    // Ends everything inside at once, long before the engine gets to it.
    session.close()
    return remove()
  }
}

function launchFailure(error: unknown, isLate: boolean, spec: SandboxSpec): LaunchFailure {
  if (!(error instanceof EngineError)) throw error
  if (isLate) return { kind: 'start_failed', reason: 'timeout', detail: error.message }
  if (error.status === undefined) return { kind: 'engine_lost', detail: error.message }
  if (error.status === 404 && error.message.includes(spec.image)) return { kind: 'image_missing' }
  return { kind: 'start_failed', reason: 'engine', detail: error.message }
}
