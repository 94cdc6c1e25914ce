import type { KeyObject } from 'node:crypto'
import { createSecretKey, randomBytes } from 'node:crypto'

// Secrets as Standard Webhooks 1.0.0 writes them: `whsec_` and the base64 of 24 to 64 random bytes.

const prefix = 'whsec_'
const newBytes = 32
const bytesMin = 24
const bytesMax = 64

// With its padding or without: the reference libraries read both.
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/** A KeyObject shows nothing of itself when it is printed. */
export type ParsedWebhookSecret = { key: KeyObject } | { fault: string }

export function newWebhookSecret(): string {
  return prefix + randomBytes(newBytes).toString('base64')
}

/** The fault says what is wrong with the text and holds no part of it. */
export function parseWebhookSecret(text: string): ParsedWebhookSecret {
  const digits = text.startsWith(prefix) ? text.slice(prefix.length) : text
  if (digits === '') return { fault: 'the secret is empty' }
  if (digits !== digits.trim()) return { fault: 'the secret begins or ends with a blank' }
  if (/^wh[sp]k_/.test(digits)) {
    return {
      fault: `the secret is one of a key pair, for signatures "v1a"; needed is one that begins ${prefix}`,
    }
  }
  if (!base64.test(digits)) return { fault: `the secret is not ${prefix} and base64` }
  const bytes = Buffer.from(digits, 'base64')
  if (bytes.length < bytesMin) return { fault: `the secret has fewer than ${bytesMin} bytes` }
  if (bytes.length > bytesMax) return { fault: `the secret has more than ${bytesMax} bytes` }
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return { key }
}
