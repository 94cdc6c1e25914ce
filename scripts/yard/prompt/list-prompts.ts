import { parseArgs } from 'node:util'
import { promptShape } from '@toolyard/contract/prompts'
import { z } from 'zod'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readAnswer } from '../api/open-api.ts'
import { promptLines } from './prompt-lines.ts'

const page = z.object({ prompts: z.array(promptShape), next_cursor: z.string().nullable() })

/** One page: who wants them all asks the API. */
export async function listPrompts(args: string[]): Promise<number> {
  const option = { type: 'string' } as const
  const options = { ...askingOptions, tool: option, status: option, limit: option } as const
  const { values } = parseArgs({ args, options })
  const { tool, status, limit } = values
  const { api, tell } = openDesk(values)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ tool, status, limit }))
    if (value !== undefined) query.set(name, value)
  const answer = await api.call(`/prompts?${query.toString()}`)
  const { prompts, next_cursor: more } = readAnswer(page, answer)
  tell(answer, (paint) => [
    ...promptLines(prompts, paint),
    ...(more === null ? [] : [paint.faint('There are older ones: --limit, 200 at most')]),
  ])
  return 0
}
