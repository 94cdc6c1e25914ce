// The patterns of `.dockerignore`. All ways to match are followed at once instead of one after another, because a
// regular expression made of `*a*a*a*a` would take a stranger's file for hours.

type Test = (character: string) => boolean
type Token =
  | { kind: 'one'; test: Test; isLiteral: boolean }
  | { kind: 'many'; test: Test }
  /** `**` before something else: nothing, or anything that ends with a slash. */
  | { kind: 'directories' }

export type Glob = readonly Token[]

const any: Test = () => true
const inName: Test = (character) => character !== '/'

/** Undefined for what is no pattern. */
export function parseGlob(pattern: string): Glob | undefined {
  const tokens: Token[] = []
  for (let rest = pattern; rest !== '';) {
    const found = nextToken(rest)
    if (found === undefined) return undefined
    tokens.push(found.token)
    rest = rest.slice(found.length)
  }
  // As Docker has it: `**.md` is every name that ends so, and `**.m?` is not.
  const [first, ...others] = tokens
  const endsPlainly = others.every((token) => token.kind === 'one' && token.isLiteral)
  if (first?.kind === 'directories' && !pattern.startsWith('**/') && !pattern.includes('\\') && endsPlainly)
    return [{ kind: 'many', test: any }, ...others]
  return tokens
}

export function matchGlob(glob: Glob, path: string): boolean {
  let places = new Set<number>()
  enter(glob, 0, places)
  for (const character of path) {
    const next = new Set<number>()
    for (const place of places) step(glob, place, character, next)
    places = next
    if (places.size === 0) return false
  }
  return places.has(glob.length)
}

function enter(glob: Glob, place: number, places: Set<number>): void {
  for (let at = place; !places.has(at); at++) {
    places.add(at)
    const token = glob[at]
    if (token === undefined || token.kind === 'one') return
  }
}

function step(glob: Glob, place: number, character: string, next: Set<number>): void {
  const token = glob[place]
  if (token?.kind === 'one' && token.test(character)) enter(glob, place + 1, next)
  if (token?.kind === 'many' && token.test(character)) enter(glob, place, next)
  if (token?.kind !== 'directories') return
  if (character === '/') enter(glob, place + 1, next)
  // Not entered: in the middle of a name what follows may not begin.
  next.add(place)
}

type Found = { token: Token; length: number }

function nextToken(rest: string): Found | undefined {
  const stars = /^\*\*\/?/.exec(rest)?.[0]
  if (stars !== undefined) {
    const token: Token = rest === stars ? { kind: 'many', test: any } : { kind: 'directories' }
    return { token, length: stars.length }
  }
  if (rest.startsWith('*')) return { token: { kind: 'many', test: inName }, length: 1 }
  if (rest.startsWith('?')) return { token: { kind: 'one', test: inName, isLiteral: false }, length: 1 }
  if (rest.startsWith('[')) return characterClass(rest)
  // A backslash at the end escapes nothing.
  const found = /^(?:\\(.)|([^\\]))/su.exec(rest)
  const literal = found?.[1] ?? found?.[2]
  if (!found || literal === undefined) return undefined
  return {
    token: { kind: 'one', test: (character) => character === literal, isLiteral: true },
    length: found[0].length,
  }
}

const classPattern = /^\[(\^|(?!\^))((?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+)\]/su
const rangePattern = /(?:\\(.)|([^\\]))(?:-(?:\\(.)|([^\\])))?/gsu

// `[a-z]`, negated by ^ alone; a backslash takes the next character as it is.
function characterClass(rest: string): Found | undefined {
  const [whole, negation, inner] = classPattern.exec(rest) ?? []
  if (whole === undefined || inner === undefined) return undefined
  const ranges = [...inner.matchAll(rangePattern)].map((range) => {
    const low = codeOf(range[1] ?? range[2])
    const high = range[3] ?? range[4]
    return { low, high: high === undefined ? low : codeOf(high) }
  })
  if (ranges.some(({ low, high }) => low > high)) return undefined
  const test: Test = (character) => {
    const code = codeOf(character)
    return ranges.some(({ low, high }) => code >= low && code <= high) === (negation === '')
  }
  return { token: { kind: 'one', test, isLiteral: false }, length: whole.length }
}

const codeOf = (character: string | undefined) => character?.codePointAt(0) ?? -1
