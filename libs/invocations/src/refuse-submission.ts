import { unknownTool } from '@toolyard/contract/config-messages'
import { AppError } from '@toolyard/contract/errors'
import type { SubmitRefusal } from './submission.ts'

const messages = {
  unknown_tool: unknownTool,
  tool_disabled: (tool: string) => `${tool} is switched off`,
  tools_disabled: () => 'All tools are switched off',
  image_failed: (tool: string) => `The image of ${tool} could not be built: see GET /tools/${tool}`,
  idempotency_mismatch: () => 'This idempotency key was used with another body: take a new one',
}

/** What the rows refused, in the words for callers, whoever they are. */
export function refuseSubmission(refusal: SubmitRefusal, tool: string): AppError {
  if ('retryAfterSeconds' in refusal) {
    const { code, message, retryAfterSeconds } = refusal
    return new AppError(code, message, { retryAfterSeconds })
  }
  // Whoever judges by an older state of the tool looks again and never tells this.
  if (refusal.code === 'tool_changed')
    return new AppError('internal', `${tool} has changed meanwhile: call it again`)
  return new AppError(refusal.code, messages[refusal.code](tool))
}
