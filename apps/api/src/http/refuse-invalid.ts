import type { Hook } from '@hono/zod-openapi'
import type { Fault } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { ApiEnv } from './api-env.ts'

const faultsMax = 50

/** What the routes' schemas refuse, as one refusal that points at each fault. */
export const refuseInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return
  const faults = result.error.issues.slice(0, faultsMax).flatMap(toFaults)
  const where = result.target === 'json' ? 'body' : result.target
  throw new AppError('invalid_request', `The ${where} has faults; each is pointed at in "faults"`, { faults })
}

type Issue = { path: PropertyKey[]; message: string; keys?: string[] }

function toFaults(issue: Issue): Fault[] {
  // A key that is not known is pointed at itself, not at the object that holds it.
  if (issue.keys === undefined) return [{ pointer: toPointer(issue.path), detail: issue.message }]
  return issue.keys.map((key) => ({
    pointer: toPointer([...issue.path, key]),
    detail: 'is not known here: remove it',
  }))
}

const toPointer = (path: PropertyKey[]) =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
