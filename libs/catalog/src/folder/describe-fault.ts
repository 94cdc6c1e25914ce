import { join } from 'node:path'
import { unprintable } from '@toolyard/contract/unprintable'
import type { FileFault } from './found-tool.ts'

const charactersMax = 1_000
// A file may be called anything; what a terminal or a log is told may not steer it.
const steering = new RegExp(`[${unprintable}]`, 'gu')

/** One line: `tools/foo/manifest.json:3 /parameters/x/type: must be one of …`. */
export function describeFault(dir: string, { file, pointer, line, column, detail }: FileFault): string {
  const place = [join(dir, file), line, column].filter((part) => part !== undefined).join(':')
  const text = `${place}${pointer ? ` ${pointer}` : ''}: ${detail}`
  const shown = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text
  return shown.replaceAll(steering, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
