import type { StartAnswer } from './plan-ticks.ts'

/** For whoever asked for a run: its invocation, or the refusal in the words of the API. */
export function requireStart(answer: StartAnswer | undefined): string {
  if (answer === undefined) throw new Error('a batch was answered in part')
  if (answer.kind === 'refused') throw answer.refusal
  return answer.invocationId
}
