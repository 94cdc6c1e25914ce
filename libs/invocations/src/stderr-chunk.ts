// What live stderr looks like on its way from a worker to whoever watches.

export const stderrChannel = 'invocations_stderr'
/** On it the ids are named that somebody watches. */
export const stderrWantedChannel = 'invocations_stderr_wanted'

/** Of UTF-8. In base64 it has 5,464, and Postgres takes less than 8,000 a message. */
export const chunkMaxBytes = 4_096

export type StderrChunk = {
  id: string
  attempt: number
  /** From 0, without a hole: who finds one has missed something. It also tells equal chunks apart. */
  seq: number
  /** Something is missing before it. */
  isGap: boolean
  text: string
}

export function encodeChunk({ id, attempt, seq, isGap, text }: StderrChunk): string {
  return [id, attempt, seq, isGap ? 1 : 0, Buffer.from(text).toString('base64')].join(' ')
}

const pattern = /^(inv_[0-9a-z]{26}) (\d{1,9}) (\d{1,9}) ([01]) ([A-Za-z0-9+/=]*)$/

/** Undefined for what another release may say. */
export function decodeChunk(payload: string): StderrChunk | undefined {
  const [, id, attempt, seq, gap, text] = pattern.exec(payload) ?? []
  if (id === undefined || text === undefined) return undefined
  return {
    id,
    attempt: Number(attempt),
    seq: Number(seq),
    isGap: gap === '1',
    text: Buffer.from(text, 'base64').toString(),
  }
}
