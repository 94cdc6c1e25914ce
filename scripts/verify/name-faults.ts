import { nearestWord } from '@toolyard/contract/nearest-word'
import type { Fault } from './fault.ts'
import type { Names, Route } from './read-names.ts'
import { segmentsOf } from './read-names.ts'

/** One line of a document: all of it, and what of it is code, in spans or as a line of a fenced block. */
export type DocLine = { text: string; code: readonly string[]; isFenced: boolean }

type Unknown = { rule: string; message: string }

/** What a line names that does not exist: a setting, a command, a route of the API. */
export function nameFaults(line: DocLine, names: Names): Pick<Fault, 'rule' | 'message'>[] {
  return [
    ...unknownSettings(line.text, names),
    ...line.code.flatMap((code) => unknownCommands(code, names)),
    // A fenced block may show a message to somebody else's server.
    ...(line.isFenced ? [] : line.code.flatMap((code) => unknownRoutes(code, names))),
    ...line.code.flatMap((code) => unknownAddresses(code, names)),
  ]
}

function unknownSettings(text: string, { settings }: Names): Unknown[] {
  const known = [...settings]
  return [...text.matchAll(/\bYARD_[A-Z][A-Z_]*/g)]
    .map(([name]) => name)
    .filter((name) =>
      // `YARD_KEEP_…_DAYS` and `YARD_KEEP_*` name several.
      name.endsWith('_') ? !known.some((one) => one.startsWith(name)) : !settings.has(name),
    )
    .map((name) => ({
      rule: 'doc-setting',
      message: `names ${name}, which is no setting${hint(name, known)}: correct or remove it`,
    }))
}

/** Where a command is typed: at the beginning, after a prompt, another command, or variables for it. */
const typed =
  /(?:^|[;&|(]|\$|\bsudo|\s[A-Z_]+=\S+|^[A-Z_]+=\S+)\s*\.\/yard ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g

function unknownCommands(code: string, { commands }: Names): Unknown[] {
  return [...code.matchAll(typed)].flatMap(([, command = '', verb]) => {
    const verbs = commands.get(command)
    const isKnown =
      command === 'help' || (verbs && (verb === undefined || verbs.size === 0 || isVerb(verb, verbs)))
    if (isKnown) return []
    const name = verbs === undefined ? command : `${command} ${verb}`
    return [{ rule: 'doc-command', message: `names ./yard ${name}, which does not exist: see ./yard help` }]
  })
}

const isVerb = (verb: string, verbs: ReadonlySet<string>) => verb === 'help' || verbs.has(verb)

function unknownRoutes(code: string, { routes }: Names): Unknown[] {
  return [...code.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s?"'`,;)]*)/g)].flatMap(
    ([, method = '', path = '']) =>
      routes.some((route) => (route.method ?? method) === method && leadsTo(path, route))
        ? []
        : [noRoute(`${method} ${path}`)],
  )
}

function unknownAddresses(code: string, { routes }: Names): Unknown[] {
  return [...code.matchAll(/\bhttp:\/\/127\.0\.0\.1:8080(\/[^\s?#"'`,;)]+)/g)].flatMap(([, path = '']) =>
    routes.some((route) => leadsTo(path, route)) ? [] : [noRoute(path)],
  )
}

const noRoute = (route: string): Unknown => ({
  rule: 'doc-route',
  message: `names ${route}, which the API does not have: correct or remove it`,
})

function leadsTo(path: string, { segments }: Route): boolean {
  const asked = segmentsOf(path)
  return (
    asked.length === segments.length &&
    asked.every((one, at) => one === segments[at] || segments[at] === '{}')
  )
}

function hint(name: string, known: string[]): string {
  const nearest = nearestWord(name, known)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}
