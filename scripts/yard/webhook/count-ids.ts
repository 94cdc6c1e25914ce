const idsMax = 10_000

/** How often an id has come, this time included. Of very many ids those that came first are forgotten. */
export function countIds(): (id: string) => number {
  const counts = new Map<string, number>()
  return (id) => {
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    const [oldest] = counts.keys()
    if (counts.size > idsMax && oldest !== undefined) counts.delete(oldest)
    return count
  }
}
