import { AppError } from '@toolyard/contract/errors'
import { checkUrl } from '../guard/check-url.ts'
import type { GuardRules } from '../guard/guard-rules.ts'

/** What can be told from the address itself; where it leads is judged each time that something is sent. */
export function refuseUrl(url: string, pointer: string, rules: GuardRules): void {
  const verdict = checkUrl(url, rules)
  if (verdict.kind === 'target') return
  throw new AppError('invalid_request', 'Nothing is sent to this address', {
    faults: [{ pointer, detail: verdict.reason }],
  })
}
