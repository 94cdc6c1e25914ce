import { z } from 'zod'
import { Secret } from './secret.ts'

/** A key and the name that what it encrypts is marked with. Whoever reads the bytes zeroes them. */
export type SecretKey = { id: string; bytes: Buffer }

const keyBytes = 32
const entriesMax = 16

/** `id:key,id:key`, each key 32 bytes in base64url. */
export const secretKeys = () =>
  z.string().transform((text, context): Secret => {
    const read = readSecretKeys(text)
    if ('faults' in read)
      for (const message of read.faults) context.issues.push({ code: 'custom', message, input: undefined })
    else for (const { bytes } of read.keys) bytes.fill(0)
    return new Secret(text)
  })

/**
 * The keys in their order, or every fault. A fault names the place of its entry and nothing that stands there: what is
 * not understood may be the key itself. White space separates as well as a comma, so that a file may have lines.
 */
export function readSecretKeys(text: string): { keys: SecretKey[] } | { faults: string[] } {
  const entries = text.split(/[,\s]+/).filter(Boolean)
  if (entries.length === 0) return { faults: ['must have an entry, as id:key'] }
  if (entries.length > entriesMax) return { faults: [`may have at most ${entriesMax} entries`] }
  const read = entries.map(readEntry)
  const keys = read.filter((one) => typeof one !== 'string')
  const faults = read.flatMap((one, index) => {
    const fault = typeof one === 'string' ? one : repeated(one, read.slice(0, index))
    return fault === undefined ? [] : [`entry ${index + 1} ${fault}`]
  })
  if (faults.length === 0) return { keys }
  for (const { bytes } of keys) bytes.fill(0)
  return { faults }
}

function readEntry(entry: string): SecretKey | string {
  const [id = '', key, ...rest] = entry.split(':')
  if (key === undefined || rest.length > 0) return 'must be an id, a colon and a key'
  if (!/^[A-Za-z0-9_-]{1,40}$/.test(id)) return 'must begin with an id of 1 to 40 letters, digits, "_" or "-"'
  const bytes = Buffer.from(key, 'base64url')
  // Decoding skips what it does not know; only a text that comes out the same was understood.
  if (bytes.length === keyBytes && bytes.toString('base64url') === key) return { id, bytes }
  bytes.fill(0)
  return `must have ${keyBytes} bytes in base64url without padding behind its colon: 43 letters, digits, "_" or "-"`
}

function repeated(one: SecretKey, before: (SecretKey | string)[]): string | undefined {
  for (const [index, other] of before.entries()) {
    if (typeof other === 'string') continue
    if (other.id === one.id) return `has the id of entry ${index + 1}`
    if (other.bytes.equals(one.bytes)) return `has the key of entry ${index + 1}`
  }
  return undefined
}
