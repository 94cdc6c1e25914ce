/**
 * Does a work once at a time. Whoever asks while it is under way is answered by the next turn, which begins after they
 * asked, and which all who wait for it share.
 */
export function shareTurns(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined

  const begin = (): Promise<void> => {
    next = undefined
    const turn = work().finally(() => {
      if (current === turn) current = undefined
    })
    current = turn
    return turn
  }

  return () => {
    if (next !== undefined) return next
    if (current === undefined) return begin()
    next = current.catch(() => {}).then(begin)
    return next
  }
}
