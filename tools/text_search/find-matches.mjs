import vm from 'node:vm'
import { Refusal } from './compile.mjs'

const countMax = 100_000
const matchMax = 1_000

/** Every match up to the limit with its place, and how many there are. Ends in time whatever the pattern is. */
export function findMatches(regex, { text, limit, context, milliseconds }) {
  const found = { matches: [], count: 0, isCounted: true, isInTime: true }
  const place = createPlaces(text)
  const search = () => {
    for (const match of text.matchAll(regex)) {
      if (found.count === countMax) {
        found.isCounted = false
        return
      }
      found.count++
      if (found.matches.length < limit) found.matches.push(describe(match, { text, context, place }))
    }
  }
  try {
    // What stops a pattern in the midst of backtracking.
    vm.runInNewContext('search()', { search }, { timeout: milliseconds })
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    if (found.count === 0) {
      const mend = 'avoid repetitions within repetitions such as (a+)+, or search less text'
      throw new Refusal(`The pattern took longer than ${milliseconds / 1_000} seconds: ${mend}.`)
    }
    found.isCounted = false
    found.isInTime = false
  }
  return found
}

function describe(match, { text, context, place }) {
  const start = match.index
  const end = start + match[0].length
  const groups = match.slice(1).map(cut)
  const named = Object.entries(match.groups ?? {}).map(([name, group]) => [name, cut(group)])
  return {
    match: cut(match[0]),
    is_cut: match[0].length > matchMax,
    ...place(start, end),
    ...(groups.length === 0 ? {} : { groups }),
    ...(named.length === 0 ? {} : { named: Object.fromEntries(named) }),
    before: whole(text.slice(Math.max(0, start - context), start)),
    after: whole(text.slice(end, end + context)),
  }
}

/** A group that took no part is null. */
const cut = (text) => (text === undefined ? null : whole(text.slice(0, matchMax)))

/** Without the half of a character that a cut may leave. */
const whole = (text) => text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '')

/** Line, column and character numbers of matches that come in order, in one walk through the text. */
function createPlaces(text) {
  let at = 0
  let line = 1
  let column = 1
  let character = 0
  const walk = (to) => {
    for (; at < to; at++) {
      const code = text.charCodeAt(at)
      // The second half of a character outside the basic plane.
      if (code >= 0xdc00 && code <= 0xdfff) continue
      character++
      column++
      if (code === 10) {
        line++
        column = 1
      }
    }
    return { line, column, character }
  }
  return (start, end) => {
    const { line: firstLine, column: firstColumn, character: first } = walk(start)
    return { line: firstLine, column: firstColumn, start: first, end: walk(end).character }
  }
}
