/** A chain of somebody else's through which forwarded packets must pass and that drops what it does not accept. */
export type ClosedChain = { family: string; table: string; chain: string }

/** Reads `nft -j list chains`. Chains made by iptables are among them. */
export function closedForwardChains(json: string): ClosedChain[] {
  const answer: unknown = JSON.parse(json)
  const entries = isObject(answer) && Array.isArray(answer['nftables']) ? answer['nftables'] : []
  return entries.flatMap((entry: unknown) => {
    const chain = isObject(entry) ? entry['chain'] : undefined
    if (!isObject(chain) || chain['hook'] !== 'forward' || chain['policy'] !== 'drop') return []
    const family = String(chain['family'])
    if (!['ip', 'inet'].includes(family)) return []
    return [{ family, table: String(chain['table']), chain: String(chain['name']) }]
  })
}

/** The chain that `iptables` works on, made by it or by a firewall that uses it, as Docker or ufw. */
export const isIptablesForward = ({ family, table, chain }: ClosedChain) =>
  family === 'ip' && table === 'filter' && chain === 'FORWARD'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
