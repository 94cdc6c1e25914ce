import { createRandom } from '../../chaos/random.ts'

/** The same order for the same seed. */
export function shuffle<T>(items: readonly T[], seed: number): T[] {
  const random = createRandom(seed)
  return items
    .map((item) => ({ item, key: random.next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item)
}
