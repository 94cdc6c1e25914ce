/** The results in the order of the items, with at most `limit` under way. After a failure nothing new is begun. */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  // A failed lane ends the iterator for the others, because leaving a `for` loop closes it.
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  return results
}
