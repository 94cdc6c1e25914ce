import { z } from 'zod'
import type { Ipv4Range } from './ipv4-range.ts'
import { parseIpv4Range } from './ipv4-range.ts'

/** What a tool may reach although the filter of the tools' network would drop it. */
export type EgressException = {
  range: Ipv4Range
  /** TCP and UDP. Absent: every port and protocol. */
  port?: number
}

const entriesMax = 256

/** `10.0.0.5/32:5432,10.1.0.0/16`. IPv4 alone, because the tools' network has no IPv6. */
export const egressAllow = () =>
  z.string().transform((text, context): readonly EgressException[] => {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean)
    const read = entries.map(readEntry)
    const faults = read.filter((result) => typeof result === 'string')
    if (entries.length > entriesMax) faults.push(`may have at most ${entriesMax} entries`)
    for (const message of faults) context.issues.push({ code: 'custom', message, input: text })
    return read.filter((result) => typeof result !== 'string')
  })

function readEntry(entry: string): EgressException | string {
  const [address = '', port, ...rest] = entry.split(':')
  if (rest.length > 0) return `${entry}: IPv6 is not possible, the tools' network has none`
  const range = parseIpv4Range(address)
  if (range === undefined)
    return `${entry}: must be an IPv4 address or a block whose bits end with its prefix, as 10.0.0.0/8`
  if (range.prefix === 0) return `${entry}: would switch the whole filter off`
  if (port === undefined) return { range }
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    return `${entry}: the port must be from 1 to 65535`
  return { range, port: Number(port) }
}
