import type { Tree } from './read-tree.ts'

/** What documents may name: each list is read where the thing itself is kept. */
export type Names = {
  settings: ReadonlySet<string>
  /** The commands of `./yard`; with the commands of a command where it has any. */
  commands: ReadonlyMap<string, ReadonlySet<string>>
  routes: readonly Route[]
}

/** `method` is undefined where the source does not say it in words. */
export type Route = { method: string | undefined; segments: readonly string[] }

export function readNames(tree: Tree): Names {
  return { settings: readSettings(tree), commands: readCommands(tree), routes: readRoutes(tree) }
}

/** The table of the page that is made from the settings themselves. A secret can come from a file too. */
function readSettings(tree: Tree): Set<string> {
  const rows = (tree.get('docs/configuration.md') ?? '').matchAll(/^\| `([A-Z_]+)`( \(secret\))?/gm)
  return new Set([...rows].flatMap(([, name = '', secret]) => (secret ? [name, `${name}_FILE`] : [name])))
}

function readCommands(tree: Tree): Map<string, Set<string>> {
  const names = keysOf(tree.get('scripts/yard/commands.ts'), 'commands')
  return new Map(
    names.map((name) => {
      const source = tree.get(`scripts/yard/${name}.ts`) ?? ''
      const compared = [...source.matchAll(/\bverb === '([a-z-]+)'/g)].map(([, verb = '']) => verb)
      return [name, new Set([...keysOf(source, 'verbs'), ...compared])]
    }),
  )
}

/** The keys of `const name = {…}` at the top of a file, one a line as the formatter writes objects of objects. */
function keysOf(source: string | undefined, name: string): string[] {
  const table =
    new RegExp(`^(?:export )?const ${name}\\b[^\\n]*\\{\\n(.*?)^\\}`, 'ms').exec(source ?? '')?.[1] ?? ''
  return [...table.matchAll(/^ {2}'?([a-z][a-z-]*)'?: \{$/gm)].map(([, key = '']) => key)
}

const declared = [
  /(?:\bmethod(?:: '(?<method>[a-z]+)')?,\s*)?\bpath: (?<quote>['`])(?<path>\/.*?)\k<quote>/g,
  /\bapi\.(?<method>get|post|put|patch|delete)\(\s*(?<quote>['`])(?<path>\/.*?)\k<quote>/g,
]

function readRoutes(tree: Tree): Route[] {
  return [...tree]
    .filter(([path]) => /^apps\/api\/src\/.+\.ts$/.test(path) && !path.endsWith('.test.ts'))
    .flatMap(([, source]) => declared.flatMap((pattern) => [...source.matchAll(pattern)].flatMap(routesOf)))
}

function routesOf({ groups, input }: RegExpExecArray): Route[] {
  const method = groups?.['method']?.toUpperCase()
  return spelledOut(groups?.['path'] ?? '', input).map((path) => ({ method, segments: segmentsOf(path) }))
}

/** `/x/${verb}` is two paths where the same file says `verb: 'on' | 'off'`. */
function spelledOut(path: string, source: string): string[] {
  const name = /\$\{(\w+)\}/.exec(path)?.[1]
  const words = name && new RegExp(`\\b${name}: ('[a-z]+'(?: \\| '[a-z]+')*)`).exec(source)?.[1]
  return words ? words.split(' | ').map((word) => path.replace(`\${${name}}`, word.slice(1, -1))) : [path]
}

/** A path in pieces; whatever stands for something else is `{}`, be it written `{id}`, `<id>`, `ID`, `$ID` or `…`. */
export function segmentsOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((segment) => (/[{<$…]|^[A-Z_]+$/.test(segment) ? '{}' : segment))
}
