import { openInstallation } from '../../services/installation/installation.ts'
import type { Api } from './open-api.ts'
import { openApi } from './open-api.ts'
import type { Paint } from '../text/paint.ts'
import { createPaint } from '../text/paint.ts'
import { jsonLine } from '../text/terminal-text.ts'

/** What every command that asks the running API takes. */
export const askingOptions = {
  json: { type: 'boolean', default: false },
  'key-file': { type: 'string' },
} as const

export type Desk = {
  api: Api
  paint: Paint
  /** The answer: for a person the lines, for a program the value. */
  tell: (value: unknown, lines: (paint: Paint) => readonly string[]) => void
  /** What is told meanwhile, beside the answer. */
  note: (line: string) => void
}

export function openDesk({
  json,
  'key-file': keyFile,
}: {
  json: boolean
  'key-file'?: string | undefined
}): Desk {
  const paint = createPaint(process.stdout, process.env)
  return {
    api: openApi(openInstallation(), keyFile),
    paint,
    tell: (value, lines) => console.log(json ? jsonLine(value) : lines(paint).join('\n')),
    note: (line) => console.error(line),
  }
}
