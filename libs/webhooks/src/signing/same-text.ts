import { hash, timingSafeEqual } from 'node:crypto'

/** Whether any text is equal to any other. All pairs are compared, so that the time does not tell which secret it was. */
export function anySame(given: readonly string[], expected: readonly string[]): boolean {
  const equal = given.flatMap((one) => expected.map((other) => sameText(one, other)))
  return equal.includes(true)
}

/** As anySame, where the lengths are secret too. */
export function anySameHashed(given: readonly string[], expected: readonly string[]): boolean {
  const hashed = (text: string) => hash('sha256', text, 'hex')
  return anySame(given.map(hashed), expected.map(hashed))
}

/** In a time that does not tell where they differ. Whether the lengths do, it may tell: of a signature it is known. */
function sameText(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}
