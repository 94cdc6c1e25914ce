export const partStates = [
  'ready',
  'on',
  'off',
  'starting',
  'draining',
  'unreachable',
  'missing',
  'unfit',
] as const

// What may be off is no fault when it is: it is only told.
const fine: ReadonlySet<string> = new Set<Part['state']>(['ready', 'on', 'off'])

/** Something that a process needs, and how it is. `detail` is for people, and safe to show to anybody. */
export type Part = {
  state: (typeof partStates)[number]
  detail?: string
}

export type Parts = Readonly<Record<string, Part>>

export const readyPart: Part = { state: 'ready' }

export const allReady = (parts: Parts) => Object.values(parts).every((part) => fine.has(part.state))

/** Only the code of an error is shown: messages may name hosts, users and statements. */
export function unreachable(error: unknown): Part {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const isCode = code !== undefined && /^[A-Za-z0-9_]{1,40}$/.test(code)
  return { state: 'unreachable', detail: isCode ? code : 'no answer' }
}
