import type { QueueKind } from '../../house/open-house.ts'
import { queueKinds } from '../../house/open-house.ts'
import { Failure } from '../../services/terminal/failure.ts'

/** The one that was typed after `--queue`, or both. */
export function chosenQueues(typed: string | undefined): QueueKind[] {
  const chosen = queueKinds.filter((kind) => typed === undefined || kind === typed)
  if (chosen.length === 0) throw new Failure(`--queue must be ${queueKinds.join(' or ')}`)
  return chosen
}
