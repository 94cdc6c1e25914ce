import { createHash } from 'node:crypto'
import type { Ipv4Range } from '@toolyard/config/ipv4-range'
import { formatIpv4Range, overlaps, parseIpv4Range } from '@toolyard/config/ipv4-range'

// The benchmark block first: nobody's servers live there, whereas a private block that no route names may still be
// somebody's, reached by the default route, and would be cut off from this host.
const pools = ['198.18.0.0/15', '172.16.0.0/12', '10.0.0.0/8']
// A bridge has at most 1,023 ports; this has room for 1,021 containers.
const prefix = 22

/** The first free block, beginning at a place of the installation's own. Undefined: none is free. */
export function chooseSubnet(id: string, taken: readonly Ipv4Range[]): string | undefined {
  const start = createHash('sha256').update(id).digest().readUInt32BE(0)
  for (const pool of pools) {
    const free = findIn(pool, start, taken)
    if (free !== undefined) return formatIpv4Range(free)
  }
  return undefined
}

function findIn(poolText: string, start: number, taken: readonly Ipv4Range[]): Ipv4Range | undefined {
  const pool = parseIpv4Range(poolText)
  if (pool === undefined) throw new Error(`${poolText} is no block of addresses`)
  const count = 2 ** (prefix - pool.prefix)
  const size = 2 ** (32 - prefix)
  for (let step = 0; step < count; step++) {
    const first = pool.first + ((start + step) % count) * size
    const candidate = { first, last: first + size - 1, prefix }
    if (!taken.some((range) => overlaps(range, candidate))) return candidate
  }
  return undefined
}
