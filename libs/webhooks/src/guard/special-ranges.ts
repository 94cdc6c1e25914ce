import type { Address, Block } from './address.ts'
import { isIn, parseBlock } from './address.ts'

/**
 * What opens it to us: `name` an allowed host name or an allowed block, `block` only an allowed block, `exact` only a
 * block that is no wider than its own, `translated` an allowed block if the address inside passes too, `never` nothing.
 */
export type Opening = 'name' | 'block' | 'exact' | 'translated' | 'never'

export type SpecialRange = { name: string; opening: Opening }

type Row = SpecialRange & { blocks: readonly string[] }

// The special-purpose registries of IANA for IPv4 and IPv6 (state of 2025), also those entries that are reachable but
// serve one protocol only, and what clouds keep apart. The first row that fits counts.
const rows: readonly Row[] = [
  {
    // AWS and all who do as they do, the containers of AWS, Alibaba, Oracle, Azure; AWS, its pods, Google, Scaleway.
    name: 'a metadata address',
    opening: 'exact',
    blocks: [
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      'fd00:42::42',
    ],
  },
  { name: 'an unspecified address', opening: 'never', blocks: ['0.0.0.0/8', '::'] },
  { name: 'a loopback address', opening: 'name', blocks: ['127.0.0.0/8', '::1'] },
  { name: 'a private address', opening: 'name', blocks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] },
  { name: 'a carrier-grade NAT address', opening: 'name', blocks: ['100.64.0.0/10'] },
  { name: 'a unique local address', opening: 'name', blocks: ['fc00::/7'] },
  { name: 'a link-local address', opening: 'block', blocks: ['169.254.0.0/16', 'fe80::/10'] },
  { name: 'a site-local address', opening: 'block', blocks: ['fec0::/10'] },
  { name: 'a multicast address', opening: 'never', blocks: ['224.0.0.0/4', 'ff00::/8'] },
  { name: 'a broadcast address', opening: 'never', blocks: ['255.255.255.255'] },
  { name: 'a benchmarking address', opening: 'block', blocks: ['198.18.0.0/15', '2001:2::/48'] },
  {
    name: 'a documentation address',
    opening: 'block',
    blocks: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  },
  { name: 'an IPv4-mapped address', opening: 'never', blocks: ['::ffff:0:0/96'] },
  { name: 'an IPv4-translated address', opening: 'never', blocks: ['::ffff:0:0:0/96'] },
  { name: 'an IPv4-compatible address', opening: 'never', blocks: ['::/96'] },
  // The prefix of everyone. Who writes it into DNS chooses the IPv4 address that the gateway dials.
  { name: 'a NAT64 address', opening: 'translated', blocks: ['64:ff9b::/96'] },
  // Where the IPv4 address lies in it is known to its network alone.
  { name: 'a local NAT64 address', opening: 'never', blocks: ['64:ff9b:1::/48'] },
  { name: 'a 6to4 address', opening: 'never', blocks: ['2002::/16', '192.88.99.0/24'] },
  { name: 'a Teredo address', opening: 'never', blocks: ['2001::/32'] },
  { name: 'a segment routing address', opening: 'never', blocks: ['5f00::/16'] },
  { name: 'a discard address', opening: 'never', blocks: ['100::/64', '100:0:0:1::/64'] },
  {
    // Protocol assignments (ORCHID, AMT, DRIP among them), AS112, AMT, class E, the former 6bone.
    name: 'a reserved address',
    opening: 'block',
    blocks: [
      '192.0.0.0/24',
      '192.31.196.0/24',
      '192.52.193.0/24',
      '192.175.48.0/24',
      '240.0.0.0/4',
      '2001::/23',
      '2620:4f:8000::/48',
      '3ffe::/16',
    ],
  },
]

const ranges = rows.flatMap(({ blocks, ...range }) => blocks.map((text) => ({ range, block: readRow(text) })))
const globalUnicast = readRow('2000::/3')
const unassigned: SpecialRange = { name: 'an address outside of global unicast', opening: 'block' }
const isatap: SpecialRange = { name: 'an ISATAP address', opening: 'never' }
const unknownToUs: SpecialRange = { name: 'a special-purpose address', opening: 'never' }

/** Undefined: it is public. IPv6 is refused unless known to be good: one eighth of it is in use at all. */
export function specialRangeOf(address: Address): SpecialRange | undefined {
  if (isIsatap(address)) return isatap
  const found = ranges.find(({ block }) => isIn(block, address))
  if (found !== undefined) return found.range
  if (address.kind() === 'ipv6' && !isIn(globalUnicast, address)) return unassigned
  // A second opinion: what ipaddr.js learns of with an update is refused before we know of it.
  return address.range() === 'unicast' ? undefined : unknownToUs
}

/** Under any prefix the interface id says that the last 32 bits are dialled in IPv4. */
function isIsatap(address: Address): boolean {
  const bytes = address.toByteArray()
  const [a, b, c, d] = bytes.slice(8, 12)
  return bytes.length === 16 && (a === 0 || a === 2) && b === 0 && c === 0x5e && d === 0xfe
}

function readRow(text: string): Block {
  const block = parseBlock(text)
  if (block === undefined) throw new Error(`the table of special ranges has ${text}, which is no block`)
  return block
}
