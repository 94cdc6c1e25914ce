import { castFaults } from './cast-faults.ts'
import type { Fault } from './fault.ts'
import type { Tree } from './read-tree.ts'
import type { SourceFile } from './source-file.ts'
import { isSourceFile, readSource } from './source-file.ts'
import { testFaults } from './test-faults.ts'

/** The rules of CONTRIBUTING.md that the linter has no words for. */
export function checkConventions(tree: Tree): Fault[] {
  const faults: Fault[] = []
  for (const [path, source] of tree) {
    if (/^(?:package\.json|yard)$|\/package\.json$/.test(path)) faults.push(...mockFlagFaults(path, source))
    if (!isSourceFile(path)) continue
    const file = readSource(path, source)
    faults.push(...directiveFaults(file), ...castFaults(file), ...testFaults(file))
  }
  return faults
}

function directiveFaults({ path, parsed, lineAt }: SourceFile): Fault[] {
  return parsed.comments
    .filter((comment) => /^\s*(?:oxlint|eslint)-disable/.test(comment.value) && !/ -- \S/.test(comment.value))
    .map((comment) => ({
      path,
      line: lineAt(comment.start),
      rule: 'disable-reason',
      message: 'switches a lint rule off without saying why: add " -- reason"',
    }))
}

function mockFlagFaults(path: string, source: string): Fault[] {
  return source.split('\n').flatMap((text, index) =>
    text.includes('test-module-mocks')
      ? [
          {
            path,
            line: index + 1,
            rule: 'module-mock',
            message: 'enables module mocking: pass the dependency as a parameter',
          },
        ]
      : [],
  )
}
