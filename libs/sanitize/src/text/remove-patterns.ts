import { findCall, knownCalls } from './find-call.ts'
import { filler, foldText, isBlank, isWordBefore } from './fold.ts'

// Takes out what an agent's host may execute when the model repeats it: `{…}` groups, calls of known names, and the
// word `ACTION:`. Each is replaced by one `…`, which is part of no pattern: what stood left and right of it cannot
// join into a new one, so that one pass is enough and a second pass finds nothing.

export type Removed = { groups: number; calls: number; directives: number }

const omission = '…'

const directive = Array.from('action', (letter) => letter.charCodeAt(0))
const braceOpen = 0x7b
const braceClose = 0x7d
const colon = 0x3a

export function removePatterns(
  text: string,
  knownNames: readonly string[],
): { text: string; removed: Removed } {
  const removed: Removed = { groups: 0, calls: 0, directives: 0 }
  if (!/[{}(:\uff08\uff1a\u02d0\ua789\u2236\ufe13\ufe55]/.test(text)) return { text, removed }
  // Calls are looked for with the groups gone, so that a brace among the arguments does not hide their end.
  const first = /[{}]/.test(text) ? omit(text, findGroups(text, removed)) : text
  return { text: finish(omit(first, findActions(first, knownNames, removed))), removed }
}

/** For each place the end of what is to be left out from there, 0 for nothing. */
type Omissions = Uint32Array

/**
 * Outermost balanced groups. Of a brace without its partner only the brace goes: taking everything up to the end
 * would let one stray character blank a result, leaving it would let the text behind this one close it.
 */
function findGroups(text: string, removed: Removed): Omissions {
  const omissions = matchBraces(text)
  for (let at = 0; at < text.length; at++) {
    const end = omissions[at] ?? 0
    if (end === 0) continue
    removed.groups++
    at = end - 1
  }
  return omissions
}

function matchBraces(text: string): Omissions {
  const endOf = new Uint32Array(text.length)
  const open = new Uint32Array(text.length)
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === braceOpen) {
      endOf[at] = at + 1
      open[depth++] = at
    } else if (code === braceClose) {
      if (depth > 0) endOf[open[--depth] ?? 0] = at + 1
      else endOf[at] = at + 1
    }
  }
  return endOf
}

function findActions(text: string, knownNames: readonly string[], removed: Removed): Omissions {
  const folded = foldText(text)
  const calls = knownCalls(text, folded, knownNames)
  const omissions = new Uint32Array(text.length)
  for (let at = 0; at < folded.length; at++) {
    const call = findCall(calls, at)
    if (call !== undefined) {
      omissions[call.start] = call.end
      removed.calls++
      at = call.end - 1
      continue
    }
    const start = folded[at] === colon ? directiveStart(text, folded, at) : undefined
    if (start === undefined) continue
    omissions[start] = at + 1
    removed.directives++
  }
  return omissions
}

/**
 * Only the word and its colon go, not the line: what follows is mere text without it (groups and calls have their own
 * rules), and "Required action: pay by Friday" keeps its meaning. "REACTION:" and "call-to-action:" are other words.
 */
function directiveStart(text: string, folded: Uint8Array, at: number): number | undefined {
  let start = at
  while (start > 0 && isBlank(folded[start - 1])) start--
  for (let letter = directive.length - 1; letter >= 0; letter--) {
    while (letter < directive.length - 1 && folded[start - 1] === filler) start--
    if (folded[start - 1] !== directive[letter]) return undefined
    start--
  }
  const isPart = isWordBefore(text, start) || (text[start - 1] === '-' && isWordBefore(text, start - 1))
  return isPart ? undefined : start
}

/** Characters are copied one by one: a million small pieces of text would cost ten times as much. */
function omit(text: string, omissions: Omissions): string {
  if (!omissions.some((end) => end > 0)) return text
  const kept = new Uint16Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const end = omissions[at] ?? 0
    const code = end === 0 ? text.charCodeAt(at) : holeCode
    // Neighbours share one sign.
    if (end === 0 || kept[length - 1] !== holeCode) kept[length++] = code
    if (end > 0) at = end - 1
  }
  return Buffer.from(kept.buffer, 0, 2 * length).toString('utf16le')
}

// Stands for the omission until the ends are trimmed; no character of a cleaned text can be a noncharacter.
const hole = '\ufdd0'
const holeCode = hole.charCodeAt(0)

/** Nothing needs a sign at the ends, where there is nothing to keep apart. Loops, because a pattern that is tied to the
 * end of a text looks for it from every blank. */
function finish(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isEdge(text[start] ?? '')) start++
  while (end > start && isEdge(text[end - 1] ?? '')) end--
  return text.slice(start, end).replace(/\ufdd0+/g, omission)
}

const isEdge = (char: string) => char === hole || char.trim() === ''
