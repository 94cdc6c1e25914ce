/** A block of IPv4 addresses, as numbers so that blocks can be compared. */
export type Ipv4Range = { first: number; last: number; prefix: number }

/** Reads `10.0.0.0/8`, or a bare address as a block of one. Undefined: it is neither, or has bits beyond its prefix. */
export function parseIpv4Range(text: string): Ipv4Range | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text)
  if (match === null) return undefined
  const octets = match.slice(1, 5).map(Number)
  const prefix = Number(match[5] ?? 32)
  if (octets.some((octet) => octet > 255) || prefix > 32) return undefined
  const first = octets.reduce((sum, octet) => sum * 256 + octet, 0)
  const size = 2 ** (32 - prefix)
  return first % size === 0 ? { first, last: first + size - 1, prefix } : undefined
}

export function formatIpv4Range({ first, prefix }: Ipv4Range): string {
  return `${formatIpv4(first)}/${prefix}`
}

function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

export const overlaps = (a: Ipv4Range, b: Ipv4Range) => a.first <= b.last && b.first <= a.last
