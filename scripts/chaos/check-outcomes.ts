import { isFinal } from './check-callers.ts'
import type { Story, Violation } from './check-history.ts'

/** One final status, one outcome, and it is that of the last attempt (I1, I2, I3). */
export function checkOutcomes(story: Story): Violation[] {
  const { row } = story
  const { id, status } = row
  if (!isFinal(status) || row.gate !== 'closed' || row.finishedAtMs === null)
    return [{ rule: 'I1', id, detail: `has not ended: ${status}, ${row.gate}` }]
  const found = checkWords(story)
  const note = (rule: string, detail: string) => void found.push({ rule, id, detail })
  if (row.outcomes !== 1) note('I3', `has ${row.outcomes} outcomes`)
  if ((row.resultText !== null) !== (status === 'succeeded'))
    note('I1', `is ${status} and ${row.resultText === null ? 'has no result' : 'has a result'}`)
  if (status === 'expired') note('I1', 'expired, though there was time enough')
  return found
}

/** The tools write what they were called for, and for which time. */
function checkWords({ row, runs }: Story): Violation[] {
  const { id, status, attempts } = row
  const words = row.resultText ?? (row.failureKind === 'tool_error' ? row.failureMessage : null)
  const last = runs.filter(({ attempt }) => attempt === attempts)
  const found: Violation[] = []
  const note = (detail: string) => void found.push({ rule: 'I2', id, detail })
  if (words !== null && words !== `${id} ${attempts}`)
    note(`ended in attempt ${attempts} with the words of another: "${words}"`)
  if (words !== null && !last.some(({ effects }) => effects === 1))
    note(`attempt ${attempts} answered, and its effect was not seen`)
  if (status === 'timed_out' && last.length === 0) note(`attempt ${attempts} timed out, and was never seen`)
  return found
}
