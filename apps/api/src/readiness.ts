import type { Sql } from '@toolyard/db/pool'
import type { Queues } from '@toolyard/queue/queues'
import type { ProcessRow, ServiceKind } from '@toolyard/service/list-processes'
import { listProcesses } from '@toolyard/service/list-processes'
import type { Part, Parts } from '@toolyard/service/part'
import { createQuestion } from './create-question.ts'
import { allReady, readyPart, unreachable } from '@toolyard/service/part'

export type ReadinessReport = {
  /** `degraded`: calls are taken, and something behind does not go on. `unavailable`: calls cannot be taken. */
  status: 'ready' | 'degraded' | 'unavailable'
  parts: Parts
}

export type Readiness = {
  report(): Promise<ReadinessReport>
  /** From now on this process is not to be sent anything new. */
  drain(): void
  isDraining(): boolean
}

export type ReadinessOptions = {
  sql: Sql
  queues: Pick<Queues, 'ping'>
  schemaFits: () => boolean
  /** After this time something that has not answered is called unreachable. */
  answerMs?: number
  monotonicMs?: () => number
}

// Anybody may ask, as often as they like; the database is asked once for all who ask within this time.
const reusedMs = 500
const answerDefaultMs = 2_000

export function createReadiness(options: ReadinessOptions): Readiness {
  const { sql, queues, schemaFits, monotonicMs = () => performance.now() } = options
  const answerMs = options.answerMs ?? answerDefaultMs
  const askDatabase = createQuestion(() => listProcesses(sql), answerMs)
  const askQueue = createQuestion(() => queues.ping(), answerMs)
  let isDraining = false
  let latest: { atMs: number; parts: Promise<Parts> } | undefined

  async function gather(): Promise<Parts> {
    const [processes, queue] = await Promise.all([
      askDatabase().catch((error: unknown) => unreachable(error)),
      askQueue().then(
        () => readyPart,
        (error: unknown) => unreachable(error),
      ),
    ])
    if (!Array.isArray(processes)) return { database: processes, queue }
    if (!schemaFits()) return { database: { state: 'starting' }, queue }
    return describeProcesses(processes, { database: readyPart, queue })
  }

  return {
    async report() {
      const now = monotonicMs()
      if (latest === undefined || now - latest.atMs > reusedMs) latest = { atMs: now, parts: gather() }
      const parts = await latest.parts
      // Asked last, since draining may have begun meanwhile.
      const api: Part = isDraining ? { state: 'draining' } : readyPart
      return judge({ ...parts, api })
    },
    drain() {
      isDraining = true
    },
    isDraining: () => isDraining,
  }
}

/** Rows are the truth: with the database calls can be taken, whatever else is away. */
function judge(parts: Parts): ReadinessReport {
  if (allReady(parts)) return { status: 'ready', parts }
  const canServe = parts['api']?.state === 'ready' && parts['database']?.state === 'ready'
  return { status: canServe ? 'degraded' : 'unavailable', parts }
}

const awaited: readonly ServiceKind[] = ['worker', 'scheduler']

/**
 * Adds a part for each kind of process, and one for each thing that those processes need. The best of a kind counts,
 * and what this process knows itself before what others say.
 */
function describeProcesses(processes: readonly ProcessRow[], own: Parts): Parts {
  const described: Record<string, Part> = { ...own }
  for (const kind of awaited) {
    const alike = processes.filter((row) => row.kind === kind)
    described[kind] = describeKind(alike)
    for (const { parts } of alike.toSorted((a, b) => Number(b.ready) - Number(a.ready))) {
      for (const [name, part] of Object.entries(parts)) described[name] ??= part
    }
  }
  return described
}

function describeKind(processes: readonly ProcessRow[]): Part {
  const ready = processes.filter((row) => row.ready).length
  if (ready > 0) return { state: 'ready', detail: `${ready} of ${processes.length}` }
  if (processes.length > 0) return { state: 'unfit', detail: `none of ${processes.length} is ready` }
  return { state: 'missing', detail: 'none has reported lately' }
}
