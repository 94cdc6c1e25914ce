import type { EgressException } from '@toolyard/config/egress-allow'
import { formatIpv4Range } from '@toolyard/config/ipv4-range'

export type EgressRules = {
  table: string
  bridge: string
  subnet: string
  allow: readonly EgressException[]
  /** The engine's name servers: it asks them from inside the container. */
  resolvers: readonly string[]
  /** Links between which nothing was forwarded before we switched forwarding on; it stays so. */
  closedLinks: readonly string[]
}

/** Everything that is not somebody's public address, and public ones that clouds give to their own host. */
const refused = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's host: certificates and the state of the machine.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  // Among these is Oracle's metadata, 192.0.0.192.
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  // Multicast, reserved, broadcast.
  '224.0.0.0/3',
]

/**
 * The whole filter as one table, replaced in one step. A drop here is final whatever other tables accept, and an accept
 * here overrides no drop of theirs. The network has no IPv6, so whatever speaks it anyway is dropped: that covers the
 * loopback, unique local, link-local, mapped, translated and metadata addresses of IPv6 without naming one.
 */
export function egressRules(rules: EgressRules): string {
  const { table, bridge, subnet, closedLinks } = rules
  const closed = `{ ${closedLinks.map(quote).join(', ')} }`
  return `table inet ${table}
delete table inet ${table}
table inet ${table} {
  set refused {
    type ipv4_addr
    flags interval
    elements = { ${refused.join(', ')} }
  }

  chain input {
    type filter hook input priority filter - 10; policy accept;
    iifname "${bridge}" jump to_host
  }

  chain to_host {
${lines(rules.allow.filter(opensHost).map((exception) => `ip saddr ${subnet} ${accept(exception)}`))}    drop
  }

  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    iifname "${bridge}" jump from_tools
    oifname "${bridge}" ct state established,related accept
    oifname "${bridge}" drop
${lines(closedLinks.length > 0 ? [`iifname ${closed} oifname ${closed} drop`] : [])}  }

  chain from_tools {
    oifname "${bridge}" drop
    meta nfproto != ipv4 drop
    ip saddr != ${subnet} drop
${lines(rules.allow.map(accept))}${lines(rules.resolvers.map((address) => `ip daddr ${address} ${toPort(53)} accept`))}    ip daddr @refused drop
    ct status dnat drop
  }

  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    oifname != "${bridge}" ip saddr ${subnet} masquerade
  }
}
`
}

// A block is easily wider than its writer thinks, so of the host itself only one address and one port at a time.
const opensHost = ({ range, port }: EgressException) => range.prefix === 32 && port !== undefined

function accept({ range, port }: EgressException): string {
  const where = port === undefined ? '' : ` ${toPort(port)}`
  return `ip daddr ${formatIpv4Range(range)}${where} accept`
}

const toPort = (port: number) => `meta l4proto { tcp, udp } th dport ${port}`
const quote = (name: string) => `"${name}"`
const lines = (rules: readonly string[]) => rules.map((rule) => `    ${rule}\n`).join('')
