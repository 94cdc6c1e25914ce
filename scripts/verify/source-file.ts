import type { ParseResult } from 'oxc-parser'
import { parseSync } from 'oxc-parser'

export type SourceFile = {
  path: string
  parsed: ParseResult
  /** Turns an offset into a line number, from 1. */
  lineAt: (offset: number) => number
}

export const isSourceFile = (path: string) =>
  /^(?:apps|libs|scripts|test)\//.test(path) && /\.[cm]?[jt]sx?$/.test(path)

export function readSource(path: string, source: string): SourceFile {
  return { path, parsed: parseSync(path, source, { preserveParens: false }), lineAt: lineCounter(source) }
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    const next = starts.findIndex((start) => start > offset)
    return next === -1 ? starts.length : next
  }
}
