import { shorten } from './faults.ts'
import { oversize } from './json-faults.ts'
import type { Json } from './parameters.ts'
import { partBytesMax } from './payload.ts'
import type { PayloadInput } from './payload.ts'
import { readToolObject } from './read-tool-object.ts'
import { toStorable, toStorableText } from './storable.ts'

// What a tool wrote and how it ended, as an outcome. Null is the same as left out. What is known must be of its type:
// a tool whose `text` is a number hears of it while it is written, not when somebody misses the text.

export const dataBytesMax = 64_000
const messageMax = 2_000
const depthMax = 64
const priorities = ['critical', 'normal', 'low'] as const

export type ToolExit = { code: number | null; signal?: string | null }

export type ToolSuccess = {
  status: 'success'
  text: string | null
  html: string | null
  title: string | null
  data?: Json
  budget_remaining?: number
  notify?: boolean
  priority?: (typeof priorities)[number]
  state?: Json
}

export type ToolFailure = {
  status: 'failure'
  kind: 'tool_error' | 'exit_nonzero' | 'invalid_output'
  failure_class: 'internal' | 'external'
  message: string
  budget_remaining?: number
}

type Members = Readonly<Record<string, Json>>

/** Texts are still the tool's own: redaction and sanitising come after. `input` decides how large `_state` may be. */
export function parseToolOutput(
  stdout: Buffer | string,
  exit: ToolExit,
  stderrTail: string,
  input: PayloadInput = 'argument',
): ToolSuccess | ToolFailure {
  const text = typeof stdout === 'string' ? stdout : stdout.toString('utf8')
  const members = readToolObject(text)
  const error = members === undefined ? undefined : errorOf(members)
  if (error !== undefined) return failure('tool_error', error, members)
  if (exit.code !== 0) return failure('exit_nonzero', describeExit(exit, stderrTail), members)
  if (members === undefined) return failure('invalid_output', describeUnreadable(text))
  const fault = faultOf(members, input)
  return fault === undefined ? success(members) : failure('invalid_output', fault, members)
}

// An empty message is a failure all the same; `false` is how some write that there was none. What is no text is told
// as it stands, because it is all that is known of the failure.
function errorOf(members: Members): string | undefined {
  const error = members['error'] ?? false
  if (error === false) return undefined
  const message = typeof error === 'string' ? error.trim() : textOf(error)
  return message === '' ? 'The tool reported an error without a message' : message
}

const textOf = (value: Json) =>
  oversize(value, { depthMax, sizeMax: dataBytesMax }) === undefined
    ? JSON.stringify(value)
    : 'The tool reported an error that is no text'

function failure(kind: ToolFailure['kind'], message: string, members: Members = {}): ToolFailure {
  const budget = members['budget_remaining']
  return {
    status: 'failure',
    kind,
    failure_class: members['failure_class'] === 'external' ? 'external' : 'internal',
    message: toStorableText(shorten(message, messageMax)),
    // A failed call may have been paid for.
    ...(typeof budget === 'number' && Number.isFinite(budget) ? { budget_remaining: budget } : {}),
  }
}

function describeExit({ code, signal }: ToolExit, stderrTail: string): string {
  const said = stderrTail.trim().slice(-messageMax)
  if (said !== '') return said
  const end = code === null ? `was ended by ${signal ?? 'a signal'}` : `exited with code ${code}`
  return `The tool ${end} and wrote nothing to stderr`
}

function describeUnreadable(stdout: string): string {
  if (stdout.trim() === '') return 'The tool wrote nothing to stdout: it must write one JSON object'
  return `stdout is no JSON object; it begins: ${shorten(stdout.trimStart(), 200)}`
}

/** The first known member that is not what it must be. */
function faultOf(members: Members, input: PayloadInput): string | undefined {
  for (const name of ['text', 'html', 'title']) {
    if (typeof (members[name] ?? '') !== 'string') return `"${name}" must be a text`
  }
  if (!Number.isFinite(members['budget_remaining'] ?? 0)) return '"budget_remaining" must be a number'
  if (typeof (members['notify'] ?? true) !== 'boolean') return '"notify" must be true or false'
  if (!priorities.some((priority) => priority === (members['priority'] ?? 'normal'))) {
    return `"priority" must be one of ${priorities.join(', ')}`
  }
  return sizeFault(members, 'data', dataBytesMax) ?? sizeFault(members, '_state', partBytesMax[input]._state)
}

function sizeFault(members: Members, name: string, bytesMax: number): string | undefined {
  const value = members[name] ?? null
  const fault = oversize(value, { depthMax, sizeMax: bytesMax })
  if (fault?.kind === 'deep') return `"${name}" ${fault.detail}`
  const isLarge = fault !== undefined || Buffer.byteLength(JSON.stringify(toStorable(value))) > bytesMax
  return isLarge ? `"${name}" must have at most ${bytesMax} bytes as JSON` : undefined
}

function success(members: Members): ToolSuccess {
  const { data, _state: state, budget_remaining: budget, notify } = members
  const priority = priorities.find((known) => known === members['priority'])
  return {
    status: 'success',
    text: textMember(members['text']),
    html: textMember(members['html']),
    title: textMember(members['title']),
    ...(data === undefined || data === null ? {} : { data: toStorable(data) }),
    ...(typeof budget === 'number' ? { budget_remaining: budget } : {}),
    ...(typeof notify === 'boolean' ? { notify } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(state === undefined || state === null ? {} : { state: toStorable(state) }),
  }
}

const textMember = (value: Json | undefined) => (typeof value === 'string' ? toStorableText(value) : null)
