import { setTimeout as delay } from 'node:timers/promises'

export type ReadinessAnswer = { ready: boolean; detail: string; body?: unknown }

const requestTimeoutMs = 3_000
const pollMs = 50

/** What `GET /readyz` says now. No answer is an answer too. */
export async function askReadiness(url: string): Promise<ReadinessAnswer> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(requestTimeoutMs) })
    const text = await response.text()
    const body = parse(text)
    const isReady = response.status === 200 && isObject(body) && body['status'] === 'ready'
    return {
      ready: isReady,
      detail: isReady ? 'ready' : `HTTP ${response.status} ${text.slice(0, 1_000)}`,
      body,
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { ready: false, detail: cause instanceof Error ? cause.message : 'no answer' }
  }
}

/** Asks until the answer is yes, `giveUp` has a reason, or the time is over; gives the last answer. */
export async function waitForReadiness(
  url: string,
  options: { timeoutMs: number; giveUp: () => boolean },
): Promise<ReadinessAnswer> {
  const deadline = performance.now() + options.timeoutMs
  for (;;) {
    const answer = await askReadiness(url)
    if (answer.ready || options.giveUp() || performance.now() > deadline) return answer
    await delay(pollMs)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // safe to ignore because a body that is no JSON is shown as it is
    return text
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
