import { parseArgs } from 'node:util'
import { ackedPromptShape, claimedPromptShape } from '@toolyard/contract/prompts'
import { z } from 'zod'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readAnswer } from '../api/open-api.ts'
import { onlyWord } from '../arguments/read-arguments.ts'
import { wholeNumber } from '../arguments/whole-number.ts'
import { promptLines } from './prompt-lines.ts'

const claimed = z.object({ prompts: z.array(claimedPromptShape) })

export async function claimPrompts(args: string[]): Promise<number> {
  const option = { type: 'string' } as const
  const options = { ...askingOptions, tool: option, limit: option, lease: option } as const
  const { values } = parseArgs({ args, options })
  const { tool, limit, lease } = values
  const body = {
    ...(tool !== undefined && { tool }),
    ...(limit !== undefined && { limit: wholeNumber('--limit', limit, { min: 1, max: 100 }) }),
    ...(lease !== undefined && { lease_seconds: wholeNumber('--lease', lease, { min: 1, max: 3_600 }) }),
  }
  const { api, tell } = openDesk(values)
  const answer = await api.call('/prompts/claim', { method: 'POST', body })
  const { prompts } = readAnswer(claimed, answer)
  tell(answer, (paint) => promptLines(prompts, paint))
  return 0
}

export async function ackPrompt(args: string[]): Promise<number> {
  const options = { ...askingOptions, claim: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const id = onlyWord(positionals, 'ID')
  const { api, tell } = openDesk(values)
  const body = values.claim === undefined ? {} : { claim: values.claim }
  const answer = await api.call(`/prompts/${encodeURIComponent(id)}/ack`, { method: 'POST', body })
  const { already } = readAnswer(ackedPromptShape, answer)
  tell(answer, () => [already ? 'It was acknowledged already' : 'It is acknowledged'])
  return 0
}
