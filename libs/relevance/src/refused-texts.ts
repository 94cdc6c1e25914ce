/** A text that was refused is left alone for so long. */
const refusedMs = 600_000

/** What the embedder refuses to make a vector of, by the hash of the text. */
export function createRefusedTexts(monotonicMs: () => number) {
  const untilMs = new Map<string, number>()

  return {
    has: (hash: string): boolean => (untilMs.get(hash) ?? -Infinity) > monotonicMs(),
    add(hash: string): void {
      const nowMs = monotonicMs()
      for (const [one, endMs] of untilMs) if (endMs <= nowMs) untilMs.delete(one)
      untilMs.set(hash, nowMs + refusedMs)
    },
  }
}
