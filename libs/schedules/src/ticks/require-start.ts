import type { ErrorCode } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { StartAnswer } from './plan-ticks.ts'

const words: Partial<Record<string, { code: ErrorCode; message: (tool: string) => string }>> = {
  unknown_tool: { code: 'unknown_tool', message: (tool) => `There is no tool ${tool} any more` },
  tool_disabled: { code: 'tool_disabled', message: (tool) => `${tool} is switched off` },
  tools_disabled: { code: 'tools_disabled', message: () => 'All tools are switched off' },
  image_failed: { code: 'image_failed', message: (tool) => `The image of ${tool} could not be built` },
  not_configured: { code: 'not_configured', message: (tool) => `${tool} lacks settings` },
  invalid_params: {
    code: 'invalid_params',
    message: (tool) => `${tool} needs params, and a tick gives none`,
  },
  budget_exhausted: { code: 'budget_exhausted', message: (tool) => `${tool} has spent its budget for today` },
  queue_full: { code: 'queue_full', message: (tool) => `Too many calls of ${tool} wait already` },
}

/** For whoever asked for a run: its invocation, or the refusal in the words of the API. */
export function requireStart(answer: StartAnswer | undefined, tool: string): string {
  if (answer === undefined) throw new Error('a batch was answered in part')
  if (answer.kind === 'accepted') return answer.invocationId
  const { code } = answer
  const known = words[code]
  if (known === undefined)
    throw new AppError('internal', `${tool} could not be started (${code}): ask for it again`)
  const isPassing = known.code === 'queue_full' || known.code === 'budget_exhausted'
  throw new AppError(known.code, known.message(tool), isPassing ? { retryAfterSeconds: 5 } : {})
}
