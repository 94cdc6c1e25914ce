import type { Hook } from '@hono/zod-openapi'
import type { Fault } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { ApiEnv } from './api-env.ts'

// A body of the largest size could have hundreds of thousands of faults, or one with a name as long as itself.
const faultsMax = 50
const stepMax = 100

/** What the routes' schemas refuse, as one refusal that points at each fault. */
export const refuseInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return
  const faults = result.error.issues.flatMap(toFaults).slice(0, faultsMax)
  const where = result.target === 'json' ? 'body' : result.target
  throw new AppError('invalid_request', `The ${where} has faults; each is pointed at in "faults"`, { faults })
}

type Issue = { path: PropertyKey[]; message: string; keys?: string[] }

function toFaults({ path, message, keys }: Issue): Fault[] {
  const pointer = path.map(toStep).join('')
  if (keys === undefined) return [{ pointer, detail: message }]
  // A field that is not known is pointed at itself, not at the object that holds it.
  return keys.map((key) => ({ pointer: pointer + toStep(key), detail: message }))
}

function toStep(key: PropertyKey): string {
  const step = String(key)
  const short = step.length > stepMax ? `${step.slice(0, stepMax)}…` : step
  return `/${short.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')}`
}
