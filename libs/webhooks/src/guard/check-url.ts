import { isIP } from 'node:net'
import type { GuardRules } from './guard-rules.ts'
import { isHostName } from './host-name.ts'
import { judgeAddress } from './judge-address.ts'

/** Where a URL leads, in the one spelling in which it is dialled. */
export type Target = {
  url: string
  isSecure: boolean
  /** A name in lower case, or an address without brackets. */
  host: string
  isAllowedHost: boolean
  port: number
  /** For the Host header. */
  authority: string
  path: string
}

export type UrlVerdict = { kind: 'target'; target: Target } | { kind: 'refused'; reason: string }

const urlLengthMax = 2_000

// Not for the world: RFC 6761, RFC 6762 appendix G, RFC 8375, and what resolvers make of a machine's own name.
const innerSuffixes = 'localhost localdomain local internal intranet private corp home lan home.arpa'.split(
  ' ',
)

/**
 * The host must be written as it is dialled. The URL parser makes `127.0.0.1` of `0x7f.1`, of `①②⑦.0.0.1` and of
 * `%31%32%37.1`; whoever writes so wants to be read in two ways.
 */
export function checkUrl(text: string, rules: GuardRules): UrlVerdict {
  const fault = textFault(text, rules)
  if (fault !== undefined) return { kind: 'refused', reason: fault }
  const url = URL.parse(text)
  if (url === null) return { kind: 'refused', reason: 'must be a URL: its host or port cannot be read' }
  const target = toTarget(url, rules)
  const reason = authorityFault(text, url) ?? portFault(target, rules) ?? hostFault(target, rules)
  return reason === undefined ? { kind: 'target', target } : { kind: 'refused', reason }
}

const authorityOf = (text: string) => /^https?:\/\/([^/?#]*)/i.exec(text)?.[1]

/** What the parser would forgive. */
function textFault(text: string, rules: GuardRules): string | undefined {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters: it has ${text.length}`
  if (/[\s\p{C}\\]/u.test(text))
    return 'must hold no blank, unseen character or backslash: percent-encode them in its path'
  if (/^http:/i.test(text) && !rules.allowHttp) return 'must begin with https://, http is not allowed here'
  const authority = authorityOf(text)
  if (authority === undefined || authority === '')
    return `must begin with https://${rules.allowHttp ? ' or http://' : ''} and a host`
  if (authority.includes('@'))
    return 'must hold no user name or password: what it authorises is the signature'
  if (text.includes('#')) return 'must have no fragment: leave out the # and what follows it'
  return undefined
}

function toTarget(url: URL, rules: GuardRules): Target {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    url: url.href,
    isSecure,
    host,
    isAllowedHost: rules.allowedHosts.has(host),
    port: url.port === '' ? defaultPort(isSecure) : Number(url.port),
    authority: url.host,
    path: url.pathname + url.search,
  }
}

const defaultPort = (isSecure: boolean) => (isSecure ? 443 : 80)

function authorityFault(text: string, url: URL): string | undefined {
  // ASCII alone: the Kelvin sign too has a k as its lower case.
  const written = authorityOf(text)?.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const withPort = `${url.hostname}:${defaultPort(url.protocol === 'https:')}`
  if (written !== url.host && written !== withPort)
    return `must name its host and port as they are dialled: this one is read as "${url.host}"`
  // The path grows where the parser percent-encodes it.
  if (url.href.length > urlLengthMax)
    return `must have at most ${urlLengthMax} characters: percent-encoded it has ${url.href.length}`
  return undefined
}

function portFault({ isSecure, port }: Target, rules: GuardRules): string | undefined {
  if (port === defaultPort(isSecure) || rules.ports.has(port)) return undefined
  const allowed = [...new Set([defaultPort(isSecure), ...rules.ports])].join(', ')
  return `must use an allowed port (${allowed}), not ${port}`
}

function hostFault({ host, isAllowedHost }: Target, rules: GuardRules): string | undefined {
  if (isIP(host) !== 0) {
    const verdict = judgeAddress(host, { rules, byAllowedHost: false })
    return verdict.kind === 'refused' ? `must lead to a public address, not to ${verdict.what}` : undefined
  }
  if (isAllowedHost) return undefined
  if (host.endsWith('.')) return 'must name its host without a dot at the end'
  if (!isHostName(host))
    return 'must name a host of letters, digits and hyphens, in labels of at most 63 with dots between them'
  if (!host.includes('.')) return `must name its host in full, as in ${host}.example.com`
  const inner = innerSuffixes.find((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  return inner === undefined ? undefined : `must name a public host, and none is under .${inner}`
}
