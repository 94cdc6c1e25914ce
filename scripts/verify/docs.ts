import { posix } from 'node:path'
import { anchorsOf } from './anchors-of.ts'
import { decisionFaults } from './decision-faults.ts'
import type { Fault } from './fault.ts'
import type { DocLine } from './name-faults.ts'
import { nameFaults } from './name-faults.ts'
import { privateNameFaults } from './private-name-faults.ts'
import type { Names } from './read-names.ts'
import { readNames } from './read-names.ts'
import type { Tree } from './read-tree.ts'

// Named whether or not they exist, so that a path into a folder that is gone is still seen as a path.
const topFolders = ['.ci', 'apps', 'docs', 'libs', 'scripts', 'test', 'tools']

// Words of the Model Context Protocol, which look like paths of ours.
const methodNames = ['tools/call', 'tools/list']

type Page = { path: string; text: string }

/** Every citation in the documents that leads nowhere, every name in them of what is not there, ill-kept decisions, and names that do not belong here. */
export function checkDocs(tree: Tree): Fault[] {
  const faults: Fault[] = []
  const names = readNames(tree)
  for (const [path, text] of tree) {
    if (path.endsWith('.md')) faults.push(...pageFaults({ path, text }, tree, names))
    faults.push(...privateNameFaults(path, text))
  }
  return [...faults, ...decisionFaults(tree)]
}

function pageFaults(page: Page, tree: Tree, names: Names): Fault[] {
  const faults: Fault[] = []
  let inFence = false
  for (const [index, text] of page.text.split('\n').entries()) {
    const isFence = /^\s*(?:```|~~~)/.test(text)
    if (isFence) inFence = !inFence
    const isFenced = inFence || isFence
    const line = { text, isFenced, code: isFenced ? [text] : codeSpans(text) }
    const found = [...citationFaults(line, page.path, tree), ...nameFaults(line, names)]
    for (const fault of found) faults.push({ path: page.path, line: index + 1, ...fault })
  }
  return faults
}

function citationFaults(line: DocLine, path: string, tree: Tree): Pick<Fault, 'rule' | 'message'>[] {
  const links = line.isFenced ? [] : linkTargets(line.text, path)
  const cited = [...line.code.flatMap(citedIn), ...links.map((link) => link.target)]
  return [
    ...cited
      .filter((target) => !exists(target, tree))
      .map((target) => ({
        rule: 'doc-path',
        message: `cites ${target}, which does not exist: correct or remove it`,
      })),
    ...links
      .filter(({ target, anchor }) => anchor !== '' && !hasAnchor(target, anchor, tree))
      .map(({ target, anchor }) => ({
        rule: 'doc-anchor',
        message: `leads to #${anchor}, which no heading of ${target} makes: correct or remove it`,
      })),
  ]
}

/** Of another file than a page, what an anchor means is its reader's matter. */
function hasAnchor(target: string, anchor: string, tree: Tree): boolean {
  const page = tree.get(target)
  return page === undefined || !target.endsWith('.md') || anchorsOf(page).has(anchor)
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

/** Where the links of a line lead, from the root; links out of the repository are left out. */
function linkTargets(line: string, path: string): { target: string; anchor: string }[] {
  const prose = line.replaceAll(/(`+).+?\1/g, '')
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)]
  const reference = [...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/g)]
  const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)]
  return [...inline, ...reference, ...html]
    .map((match) => match[1] ?? '')
    .filter((link) => link !== '' && !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link))
    .map((link) => {
      const [file = '', anchor = ''] = decodeURI(link).split('#')
      return { target: fromRoot(file.replace(/\?.*$/, ''), path), anchor }
    })
    .filter(({ target }) => target !== '.' && target !== '')
}

/** A link without a file leads to a place of its own page. */
function fromRoot(file: string, path: string): string {
  if (file === '') return path
  const target = file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(path), file)
  return target.replace(/\/$/, '')
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
