import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Addresses that begin with the same bits. */
export type Block = { first: Address; prefixBits: number }

/**
 * Undefined: it is no address, or not plainly one. Node judges the notation, because ipaddr.js takes octal, hex and
 * short forms too, and `::1.2.3.4` for a mapped address; a zone id would make another interface of the same bits.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0 || text.includes('%')) return undefined
  return ipaddr.parse(text.includes(':') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text)
}

/** Reads `10.0.0.0/8`, or an address as a block of one. Undefined: it is neither, or has bits beyond its prefix. */
export function parseBlock(text: string): Block | undefined {
  const [, network = '', prefix] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const first = parseAddress(network)
  if (first === undefined) return undefined
  const bytes = first.toByteArray()
  const prefixBits = prefix === undefined ? bytes.length * 8 : Number(prefix)
  if (prefixBits > bytes.length * 8) return undefined
  const isAligned = bytes.every((byte, index) => {
    const free = Math.min(8, Math.max(0, (index + 1) * 8 - prefixBits))
    return byte % 2 ** free === 0
  })
  return isAligned ? { first, prefixBits } : undefined
}

/** A block of IPv4 holds no IPv6 address, however it is written, and the other way round. */
export function isIn({ first, prefixBits }: Block, address: Address): boolean {
  return address.kind() === first.kind() && address.match(first, prefixBits)
}

/** The IPv4 address in the last 32 bits. */
export function lastIpv4(address: Address): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}
