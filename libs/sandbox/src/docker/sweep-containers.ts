import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import type { SweepReport } from '../sandboxes.ts'
import { labelPrefix, namePrefix } from './container-profile.ts'
import { callEngine } from './engine-error.ts'
import { removeContainer } from './remove-container.ts'

export type Sweep = {
  instance: string
  worker: string
  liveWorkers: ReadonlySet<string>
  /** Names of this worker's own containers that are looked after. */
  known: ReadonlySet<string>
}

const callTimeoutMs = 10_000
const neverStartedMs = 60_000
const atOnceMax = 4

/** Removes what nobody looks after any more. Only by our labels, never by a prune. */
export async function sweepContainers(docker: Docker, sweep: Sweep): Promise<SweepReport> {
  const filters = { label: [`${labelPrefix}instance=${sweep.instance}`, `${labelPrefix}worker`] }
  const [containers, nowMs] = await Promise.all([
    callEngine(callTimeoutMs, (abortSignal) => docker.listContainers({ all: true, filters, abortSignal })),
    engineClock(docker),
  ])
  const strays = containers.filter((container) => isStray(container, sweep, nowMs)).map(({ Id }) => Id)
  const report: SweepReport = { removed: [], stuck: [] }
  const removeNext = async (): Promise<void> => {
    for (let id = strays.pop(); id !== undefined; id = strays.pop()) {
      const removal = await removeContainer(docker, id)
      if (removal.kind === 'removed') report.removed.push(id)
      else report.stuck.push({ id, detail: removal.detail })
    }
  }
  await Promise.all(Array.from({ length: atOnceMax }, removeNext))
  return report
}

export function isStray(
  container: Pick<ContainerInfo, 'Labels' | 'Names' | 'State' | 'Created'>,
  sweep: Sweep,
  nowMs: number,
): boolean {
  const { Labels, Names, State, Created } = container
  const worker = Labels[`${labelPrefix}worker`]
  if (worker === undefined || Labels[`${labelPrefix}instance`] !== sweep.instance) return false
  // An image may carry labels of its own choice, a container's name is ours alone to choose.
  if (!Names.some((name) => name.startsWith(`/${namePrefix}`))) return false
  const isOld = nowMs - Created * 1_000 > neverStartedMs
  if (worker === sweep.worker) return isOld && !Names.some((name) => sweep.known.has(name.slice(1)))
  if (!sweep.liveWorkers.has(worker)) return true
  return State === 'created' && isOld
}

/** Ages are told by the clock that gave the dates. */
async function engineClock(docker: Docker): Promise<number> {
  const info: unknown = await callEngine(callTimeoutMs, () => docker.info())
  const time =
    typeof info === 'object' && info !== null && 'SystemTime' in info ? String(info.SystemTime) : ''
  const nowMs = Date.parse(time)
  return Number.isNaN(nowMs) ? Date.now() : nowMs
}
