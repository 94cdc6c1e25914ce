import { toPointer } from '@toolyard/contract/faults'

// Where the values of a JSON text are. `JSON.parse` makes the values; it does not say where they were, takes the last
// of two equal keys in silence, and names no position in half of its errors.

export type JsonPlace = { line: number; column: number }
export type JsonFault = JsonPlace & { pointer?: string; detail: string }

/** `lines` by JSON pointer, for a key the line of the key. */
export type LocatedJson = { faults: readonly JsonFault[]; lines: ReadonlyMap<string, number> }

// Below what walkers that call themselves can stand.
const depthMax = 64
// What is remembered and told about a stranger's file must not grow with it.
const faultsMax = 100
const linesMax = 10_000
const pointerMax = 2_000

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const space = /[ \t\n\r]*/y
// JSON allows no control character inside a string but those from 7f on.
const string = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy

/** Stops at the first thing that is not JSON; of keys that occur twice it tells all. */
export function locateJson(text: string): LocatedJson {
  const scanner = createScanner(text)
  try {
    scanner.value('', 0)
    scanner.end()
  } catch (error) {
    if (!(error instanceof JsonStop)) throw error
    scanner.faults.push(error.fault)
  }
  return { faults: scanner.faults, lines: scanner.lines }
}

class JsonStop extends Error {
  readonly fault: JsonFault

  constructor(fault: JsonFault) {
    super(fault.detail)
    this.fault = fault
  }
}

function createScanner(text: string) {
  const faults: JsonFault[] = []
  const lines = new Map<string, number>()
  const cursor = createCursor(text)

  const remember = (pointer: string, line: number) => {
    if (lines.size < linesMax && pointer.length <= pointerMax) lines.set(pointer, line)
  }
  const key = (seen: Set<string>, pointer: string): string => {
    const found = cursor.place()
    const expected = seen.size === 0 ? 'a key in double quotes or }' : 'a key in double quotes'
    const name = String(JSON.parse(cursor.take(string) ?? cursor.stop(expected)))
    const inner = extend(pointer, name)
    if (seen.has(name) && faults.length < faultsMax)
      faults.push({ ...found, pointer: inner, detail: 'is there twice: remove one of them' })
    seen.add(name)
    remember(inner, found.line)
    return inner
  }
  const object = (pointer: string, depth: number) => {
    if (cursor.next('}')) return
    const seen = new Set<string>()
    do {
      const inner = key(seen, pointer)
      cursor.expect(':', 'a colon')
      value(inner, depth)
    } while (cursor.next(','))
    cursor.expect('}', 'a comma or }')
  }
  const array = (pointer: string, depth: number) => {
    if (cursor.next(']')) return
    let index = 0
    do {
      const inner = extend(pointer, String(index++))
      remember(inner, cursor.place().line)
      value(inner, depth)
    } while (cursor.next(','))
    cursor.expect(']', 'a comma or ]')
  }
  const value = (pointer: string, depth: number): void => {
    if (depth > depthMax)
      throw new JsonStop({ ...cursor.place(), detail: `nested deeper than ${depthMax} levels` })
    if (cursor.next('{')) object(pointer, depth + 1)
    else if (cursor.next('[')) array(pointer, depth + 1)
    else if (cursor.take(string) === undefined && cursor.take(literal) === undefined) cursor.stop('a value')
  }
  return { faults, lines, value, end: () => cursor.expect('', 'the end of the file') }
}

/** A place in the text that moves forward; space before what is asked for is passed over. */
function createCursor(text: string) {
  const placeOf = createPlaces(text)
  let at = 0

  const skip = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }
  const place = () => {
    skip(space)
    return placeOf(at)
  }
  const stop = (expected: string): never => {
    throw new JsonStop({ ...place(), detail: `expected ${expected}, found ${describeNext(text, at)}` })
  }
  const next = (token: string) => {
    skip(space)
    if (text[at] !== token) return false
    at += 1
    return true
  }
  return {
    place,
    stop,
    next,
    take: (pattern: RegExp) => {
      skip(space)
      return skip(pattern)
    },
    // An empty token stands for the end.
    expect: (token: string, expected: string) => {
      if (token === '' ? place() && at < text.length : !next(token)) stop(expected)
    },
  }
}

function describeNext(text: string, at: number): string {
  const next = text.codePointAt(at)
  if (next === undefined) return 'the end of the file'
  if (text[at] === '"') return 'a string that is not closed, or a line break or an unknown \\ in it'
  return JSON.stringify(String.fromCodePoint(next))
}

/** A pointer to what is in it, spelled as in the faults of `parseManifest`. */
function extend(pointer: string, step: string): string {
  return pointer.length > pointerMax ? pointer : pointer + toPointer([step])
}

// Asked for with rising positions only, so that a long file is not counted from its beginning for each key.
function createPlaces(text: string): (at: number) => JsonPlace {
  const endFrom = (from: number) => (text.indexOf('\n', from) + 1 || text.length + 2) - 1
  let line = 1
  let lineStart = 0
  let lineEnd = endFrom(0)
  return (at) => {
    while (lineEnd < at) {
      line += 1
      lineStart = lineEnd + 1
      lineEnd = endFrom(lineStart)
    }
    return { line, column: at - lineStart + 1 }
  }
}
