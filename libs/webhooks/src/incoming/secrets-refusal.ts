import type { Refusal } from '../signing/verification.ts'
import { refuse } from '../signing/verification.ts'

const charactersMin = 16
const charactersMax = 4_096

/**
 * What is wrong with the secrets of a tool. One bad secret refuses them all: passed over, it would be found out when
 * the other one is taken away.
 */
export function secretsRefusal(secrets: readonly string[]): Refusal | undefined {
  if (secrets.length === 0) return refuse('no_secret', 'the tool has no secret to verify with')
  const fault = secrets.map(secretFault).find((found) => found !== undefined)
  return fault === undefined ? undefined : refuse('misconfigured', fault)
}

function secretFault(secret: string): string | undefined {
  if (secret === '') return 'a secret is empty'
  // It was pasted with the end of its line, and would match nothing.
  if (secret !== secret.trim()) return 'a secret begins or ends with a blank'
  if (secret.length < charactersMin) return `a secret has fewer than ${charactersMin} characters`
  if (secret.length > charactersMax) return `a secret has more than ${charactersMax} characters`
  return undefined
}
