import { isIPv4, isIPv6 } from 'node:net'

/**
 * Whom an address stands for: an IPv4 address for itself, an IPv6 address for its /64, because whoever has one of
 * those has all of it. What is no address is one group, so that odd text cannot make a fresh group each time.
 */
export function addressGroup(address: string): string {
  if (isIPv4(address)) return address
  const [withoutZone = ''] = address.split('%')
  if (!isIPv6(withoutZone)) return 'unknown'
  const words = expand(withoutZone)
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xff_ff
  if (isMapped)
    return words
      .slice(6)
      .flatMap((word) => [word >> 8, word & 0xff])
      .join('.')
  return `${words
    .slice(0, 4)
    .map((word) => word.toString(16))
    .join(':')}::/64`
}

/** The eight 16-bit words of a valid IPv6 address. */
function expand(address: string): number[] {
  // The URL parser turns every spelling, a dotted tail too, into the canonical one.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const before = parseWords(head)
  const after = tail === undefined ? [] : parseWords(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after]
}

function parseWords(text: string): number[] {
  return text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16))
}
