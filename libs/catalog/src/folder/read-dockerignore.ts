import { posix } from 'node:path'
import type { FileFault } from './found-tool.ts'
import { matchGlob, parseGlob } from './glob.ts'

export type ContextRules = {
  /** What applies to a path also applies to what is in it; the last rule that matches decides. */
  excludes(path: string): boolean
  /** Whether something in an excluded directory may be included after all. */
  hasExceptions: boolean
}

type Rule = { exception: boolean; matches(path: string): boolean }

export const includeAll: ContextRules = { excludes: () => false, hasExceptions: false }

/** Docker's rules for `.dockerignore`; lines that Docker would refuse are faults and do nothing. */
export function readDockerignore(text: string): { rules: ContextRules; faults: FileFault[] } {
  const rules: Rule[] = []
  const faults: FileFault[] = []
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  for (const [index, line] of lines.entries()) {
    const refuse = (detail: string) => faults.push({ file: '.dockerignore', line: index + 1, detail })
    if (line.startsWith('#') || line.trim() === '') continue
    const exception = line.trim().startsWith('!')
    const pattern = line
      .trim()
      .slice(exception ? 1 : 0)
      .trim()
    const glob = pattern === '' ? undefined : parseGlob(clean(pattern))
    if (glob === undefined) refuse(`${JSON.stringify(line.trim().slice(0, 100))} is not a pattern`)
    else rules.push({ exception, matches: (path) => matchGlob(glob, path) })
  }
  return {
    faults,
    rules: {
      excludes: (path) => isExcluded(rules, path),
      hasExceptions: rules.some((rule) => rule.exception),
    },
  }
}

// Spelled `a//b`, `./a`, `a/` or `/a`, it is the same path of the context; and no pattern leads out of it.
function clean(pattern: string): string {
  const cleaned = posix.normalize(pattern).replace(/(?<=.)\/$/, '')
  return cleaned.length > 1 && cleaned.startsWith('/') ? cleaned.slice(1) : cleaned
}

function isExcluded(rules: readonly Rule[], path: string): boolean {
  const steps = path.split('/')
  const paths = steps.map((_, index) => steps.slice(0, index + 1).join('/'))
  const last = rules.findLast((rule) => paths.some((each) => rule.matches(each)))
  return last !== undefined && !last.exception
}
