import { setTimeout as delay } from 'node:timers/promises'
import { invocationShape, invocationStatuses, isFinal } from '@toolyard/contract/invocations'
import { z } from 'zod'
import type { Invocation } from './invocation-lines.ts'
import type { Api } from '../api/open-api.ts'
import { Unreachable, readAnswer } from '../api/open-api.ts'
import type { ServerEvent } from '../api/read-events.ts'

const statusShape = z.object({
  status: z.enum(invocationStatuses),
  attempts: z.int(),
  waiting_for: z.string().optional(),
  cancel_requested: z.boolean().optional(),
})
const stderrShape = z.object({ attempt: z.int(), text: z.string(), gap: z.boolean().optional() })

export type StatusTold = z.infer<typeof statusShape>
export type StderrTold = z.infer<typeof stderrShape>

export type Reporter = {
  status: (told: StatusTold) => void
  stderr: (told: StderrTold) => void
  /** The connection was lost, and is tried again. */
  lost: (error: unknown) => void
}

export type FollowOptions = { id: string; signal: AbortSignal; pauseMs?: number; patienceMs?: number }

// A restart of what runs there takes less.
const patienceDefaultMs = 60_000
const pauseDefaultMs = 1_000

/**
 * Tells what becomes of an invocation until it is final, and gives it. A connection that ends before is made again, and
 * goes on where it was; only the first one must succeed.
 */
export async function followInvocation(
  api: Api,
  { id, signal, pauseMs = pauseDefaultMs, patienceMs = patienceDefaultMs }: FollowOptions,
  report: Reporter,
): Promise<{ answer: unknown; invocation: Invocation }> {
  const path = `/invocations/${encodeURIComponent(id)}`
  let lastEventId: string | undefined
  let isOpened = false
  let lostAtMs: number | undefined
  const onOpen = () => {
    isOpened = true
    lostAtMs = undefined
  }
  for (;;) {
    try {
      for await (const event of api.events(`${path}/events`, { lastEventId, signal, onOpen })) {
        lastEventId = event.id ?? lastEventId
        tell(event, report)
      }
      const answer = await api.call(path, { signal })
      const invocation = readAnswer(invocationShape, answer)
      if (isFinal(invocation.status)) return { answer, invocation }
    } catch (error) {
      if (!(error instanceof Unreachable) || !isOpened) throw error
      lostAtMs ??= performance.now()
      if (performance.now() - lostAtMs > patienceMs) throw error
      report.lost(error)
    }
    await delay(pauseMs, undefined, { signal })
  }
}

/** Events that a later release may have are passed over. */
function tell({ event, data }: ServerEvent, report: Reporter): void {
  if (event === 'status') report.status(readAnswer(statusShape, parse(data)))
  else if (event === 'stderr') report.stderr(readAnswer(stderrShape, parse(data)))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
