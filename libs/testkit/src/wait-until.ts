import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 10

/** Waits until `condition` returns something truthy and gives that back; fails with `what` when time runs out. */
export async function waitUntil<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    // safe because only a truthy value passes
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`)
    await delay(pollMs)
  }
}
