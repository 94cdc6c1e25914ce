import type { Target } from './check-url.ts'
import type { GuardRules } from './guard-rules.ts'
import { isIP } from 'node:net'
import { judgeAddress } from './judge-address.ts'
import { lookUpBySystem, lookUpInDns } from './look-up.ts'

export type Resolution =
  | { kind: 'addresses'; addresses: readonly string[] }
  | { kind: 'unreachable'; reason: 'refused_address' | 'dns'; detail: string }

export type NameService = {
  rules: GuardRules
  /** `address` or `address:port` of name servers to ask for every name. Default: the system's way. */
  dnsServers?: readonly string[]
}

/**
 * The addresses that may be dialled for a target, all of them checked: one that is refused refuses all, because the
 * next connection could be to that one. By the system's way, DNS alone answers for names that callers give; only names
 * of the allow-list are also looked for in `/etc/hosts`. Rejects with the signal's reason.
 */
export async function resolveTarget(
  target: Target,
  { rules, dnsServers }: NameService,
  signal: AbortSignal,
): Promise<Resolution> {
  signal.throwIfAborted()
  const { host, isAllowedHost } = target
  const records = await recordsOf(target, dnsServers, signal)
  if (records.kind === 'failed') return { kind: 'unreachable', reason: 'dns', detail: records.detail }
  if (records.addresses.length === 0)
    return { kind: 'unreachable', reason: 'dns', detail: `${host} has no address` }
  for (const address of records.addresses) {
    const verdict = judgeAddress(address, { rules, byAllowedHost: isAllowedHost })
    if (verdict.kind === 'refused')
      return { kind: 'unreachable', reason: 'refused_address', detail: `${host} leads to ${verdict.what}` }
  }
  return { kind: 'addresses', addresses: records.addresses }
}

function recordsOf(
  { host, isAllowedHost }: Target,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
) {
  if (isIP(host) !== 0) return { kind: 'records', addresses: [host] } as const
  if (isAllowedHost && servers === undefined) return lookUpBySystem(host, signal)
  return lookUpInDns(host, servers, signal)
}
