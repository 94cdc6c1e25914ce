import type { ClaimedPrompt, PromptShape } from '@toolyard/contract/prompts'
import type { Paint } from '../text/paint.ts'
import { indent, oneLine } from '../text/terminal-text.ts'

/** Each with a line of its own, and below it what it says. */
export function promptLines(prompts: readonly (PromptShape | ClaimedPrompt)[], paint: Paint): string[] {
  if (prompts.length === 0) return ['There is no prompt']
  return prompts.flatMap((one) => [
    [
      paint.strong(oneLine(one.id)),
      oneLine(one.tool),
      one.priority === 'critical' ? paint.bad(one.priority) : one.priority,
      one.status,
      paint.faint(oneLine(one.tick_at)),
      ...('claim' in one ? [paint.faint(oneLine(`claim ${one.claim}`))] : []),
    ].join('  '),
    indent(one.prompt),
  ])
}
