import type { Address, Block } from './address.ts'
import { isIn, lastIpv4, parseAddress } from './address.ts'
import type { GuardRules } from './guard-rules.ts'
import type { SpecialRange } from './special-ranges.ts'
import { specialRangeOf } from './special-ranges.ts'

/** `what` in words that name the kind and not the address: it is told to whoever asked, and is not his to learn. */
export type AddressVerdict = { kind: 'passes' } | { kind: 'refused'; what: string }

export type Asker = {
  rules: GuardRules
  /** Whether the name that led to the address is on the allow-list. */
  byAllowedHost: boolean
}

/** Whether we may dial this address. What is not understood is refused. */
export function judgeAddress(text: string, asker: Asker): AddressVerdict {
  const address = parseAddress(text)
  return address === undefined ? { kind: 'refused', what: 'no plain IP address' } : judge(address, asker)
}

function judge(address: Address, asker: Asker): AddressVerdict {
  if (asker.rules.refusedBlocks.some((block) => isIn(block, address)))
    return { kind: 'refused', what: 'an address that is closed here' }
  const range = specialRangeOf(address)
  if (range === undefined || isOpen(range, address, asker)) return { kind: 'passes' }
  return { kind: 'refused', what: range.name }
}

function isOpen({ opening }: SpecialRange, address: Address, { rules, byAllowedHost }: Asker): boolean {
  if (opening === 'never') return false
  if (opening === 'name' && byAllowedHost) return true
  const blocks = rules.allowedBlocks.filter((block) => isIn(block, address))
  if (opening === 'exact') return blocks.some(isOfOne)
  if (blocks.length === 0) return false
  return (
    opening !== 'translated' || judge(lastIpv4(address), { rules, byAllowedHost: false }).kind === 'passes'
  )
}

const isOfOne = ({ first, prefixBits }: Block) => prefixBits === first.toByteArray().length * 8
