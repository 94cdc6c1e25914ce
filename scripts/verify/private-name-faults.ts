import type { Fault } from './fault.ts'

// A path or host of the machine that something was written on means nothing to whoever reads it elsewhere.
const privateNames = [
  { pattern: /(?<![\w.~-])\/(?:work|farm|workspaces?|Users)\/[\w.-]/, what: 'a path of one machine' },
  { pattern: /\/tmp\/\w*_jobs\b/, what: 'a path of one machine' },
  { pattern: /\bregistry\.[a-z0-9-]+\.[a-z]{2,}/i, what: 'a package registry' },
  { pattern: /^\s*(?:@[\w-]+:)?registry\s*=/, what: 'a package registry' },
  { pattern: /"resolved":\s*"[a-z+]+:\/\//, what: 'where a package was downloaded' },
]

/** One fault for each line that names something private to a machine. */
export function privateNameFaults(path: string, text: string): Fault[] {
  return text.split('\n').flatMap((line, index) => {
    const found = privateNames.find(({ pattern }) => pattern.test(line))
    if (found === undefined) return []
    return [{ path, line: index + 1, rule: 'private-name', message: `names ${found.what}: say it without` }]
  })
}
