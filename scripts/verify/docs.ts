import { posix } from 'node:path'
import { decisionFaults } from './decision-faults.ts'
import type { Fault } from './fault.ts'
import { privateNameFaults } from './private-name-faults.ts'
import type { Tree } from './read-tree.ts'

// Named whether or not they exist, so that a path into a folder that is gone is still seen as a path.
const topFolders = ['.ci', 'apps', 'docs', 'libs', 'scripts', 'test', 'tools']

// Words of the Model Context Protocol, which look like paths of ours.
const methodNames = ['tools/call', 'tools/list']

/** Every citation in the documents that leads nowhere, ill-kept decisions, and names that do not belong here. */
export function checkDocs(tree: Tree): Fault[] {
  const faults: Fault[] = []
  for (const [path, text] of tree) {
    if (path.endsWith('.md')) faults.push(...citationFaults(path, text, tree))
    faults.push(...privateNameFaults(path, text))
  }
  return [...faults, ...decisionFaults(tree)]
}

function citationFaults(path: string, text: string, tree: Tree): Fault[] {
  const faults: Fault[] = []
  let inFence = false
  for (const [index, line] of text.split('\n').entries()) {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    if (isFence) inFence = !inFence
    const cited =
      inFence || isFence ? citedIn(line) : [...codeSpans(line).flatMap(citedIn), ...linkTargets(line, path)]
    for (const target of cited) {
      if (!exists(target, tree)) {
        faults.push({
          path,
          line: index + 1,
          rule: 'doc-path',
          message: `cites ${target}, which does not exist: correct or remove it`,
        })
      }
    }
  }
  return faults
}

function codeSpans(line: string): string[] {
  return [...line.matchAll(/(`+)(.+?)\1/g)].map((match) => match[2] ?? '')
}

/** The words of a command or a code span that are paths from the root of the repository. */
function citedIn(text: string): string[] {
  return text
    .split(/[\s'"()=;|]+|,(?![^{}]*\})/)
    .map((word) =>
      word
        .replace(/^\.\//, '')
        .replace(/[.:]+$/, '')
        .replace(/[:#]L?\d+(?:-L?\d+)?$/, ''),
    )
    .filter(
      (word) => topFolders.some((folder) => word.startsWith(`${folder}/`)) && !methodNames.includes(word),
    )
    .flatMap(expandBraces)
}

/** Where the links of a line lead, from the root; links out of the repository and within the page are left out. */
function linkTargets(line: string, path: string): string[] {
  const prose = line.replaceAll(/(`+).+?\1/g, '')
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)]
  const reference = [...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/g)]
  const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)]
  return [...inline, ...reference, ...html]
    .map((match) => (match[1] ?? '').replace(/[?#].*$/, ''))
    .filter((target) => target !== '' && !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
    .map((target) =>
      target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), decodeURI(target)),
    )
    .map((target) => target.replace(/\/$/, ''))
    .filter((target) => target !== '.' && target !== '')
}

/** `libs/{db,queue}` cites two paths. A `{name}` is a placeholder, which exists() treats as a wildcard. */
function expandBraces(word: string): string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(word)
  if (group === null) return [word]
  return (group[1] ?? '').split(',').flatMap((choice) => expandBraces(word.replace(group[0], choice)))
}

function exists(target: string, tree: Tree): boolean {
  const path = target.replace(/\/$/, '')
  if (tree.has(path)) return true
  const wildcard = /\*|<[^>]*>|\{[^}]*\}|…|NNNN/
  if (!wildcard.test(path)) return [...tree.keys()].some((key) => key.startsWith(`${path}/`))
  const source = path
    .split(/(\*\*\/?|\*|<[^>]*>|\{[^}]*\}|…|NNNN)/)
    .map((part) =>
      part.startsWith('**') || part === '…' ? '.*' : wildcard.test(part) ? '[^/]*' : RegExp.escape(part),
    )
    .join('')
  const pattern = new RegExp(`^${source}(?:/|$)`)
  return [...tree.keys()].some((key) => pattern.test(key))
}
