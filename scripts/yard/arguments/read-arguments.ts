import { toolName } from '@toolyard/contract/keys'
import type { Json } from '@toolyard/contract/parameters'
import { readStdin } from './read-stdin.ts'
import { UsageFault } from './usage-fault.ts'

/** The one word that the command is about. */
export function onlyWord(words: readonly string[], what: string): string {
  const [word, ...rest] = words
  if (word === undefined || word === '') throw new UsageFault(`${what} is missing`)
  if (rest.length > 0) throw new UsageFault(`one ${what} at a time, not ${words.length}`)
  return word
}

/** Checked before it becomes a part of an address or of a path. */
export function requireToolName(word: string): string {
  const parsed = toolName.safeParse(word)
  if (parsed.success) return word
  const reasons = parsed.error.issues.map(({ message }) => message)
  throw new UsageFault(`${JSON.stringify(word)} is no name of a tool: ${reasons.join(', ')}`)
}

/** A JSON object that was typed after an option; `-` stands for stdin. */
export async function readObject(option: string, typed: string): Promise<Record<string, Json>> {
  const value = parse(option, typed === '-' ? await readStdin() : typed)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageFault(`${option} must be a JSON object, as '{"name": "Ada"}'`)
}

function parse(option: string, text: string): Json {
  try {
    // safe because JSON.parse makes nothing else
    return JSON.parse(text) as Json
  } catch (error) {
    // The text itself may hold a secret; what the parser says of it quotes some.
    const reason = error instanceof SyntaxError ? 'is no JSON' : 'cannot be read'
    throw new UsageFault(`${option} ${reason}: put it into single quotes, as '{"name": "Ada"}'`)
  }
}
