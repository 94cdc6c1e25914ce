import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 25

/** Whether `condition` comes true within the time. It is asked at least once, and once more when the time is over. */
export async function becomes(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const isOver = performance.now() >= deadline
    if (await condition()) return true
    if (isOver) return false
    await delay(pollMs)
  }
}
