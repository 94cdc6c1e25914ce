import { createHash } from 'node:crypto'
import type { ToolText } from './tool-text.ts'

/** The same for the same text, whatever else changed of a tool: its vectors stay good. */
export function textHash({ name, description, parameters, examples }: ToolText): string {
  const text = [name, description, parameters.map((one) => [one.name, one.description ?? '']), examples]
  return createHash('sha256').update(JSON.stringify(text)).digest('base64url')
}
