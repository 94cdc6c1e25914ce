import type { Look } from './look.ts'

// Whether a try may begin. Pure. Places are few, so that one slow receiver holds few of the platform's.

/** Of one receiver, as long as it answers. */
export const placesMax = 4
/** Of one from which nothing has arrived since something failed: it is asked whether it is back, and no more. */
export const placesOfFailingMax = 1
/** Of all receivers of one key: it may name as many hosts as it likes. */
export const placesOfKeyMax = 64
export const perSecondMax = 50
/** Who of those that wait for a receiver's next second stays in the queue. */
export const nextsMax = 8
// Whatever has longer to wait, the relay brings back.
const waitMaxMs = 60_000

export type NotYet =
  /** The job comes back. */
  | { kind: 'waits'; againMs: number }
  /** The one or the other has all it gets: it leaves the queue until it is called. */
  | { kind: 'crowded'; by: 'receiver' | 'key' }
  /** Its job is not needed: it has ended, is under way, is paused or void; or the relay brings it back. */
  | { kind: 'not_now' }

const notNow: NotYet = { kind: 'not_now' }
const crowded = (by: 'receiver' | 'key'): NotYet => ({ kind: 'crowded', by })

/** Undefined: it may. */
export function judgeLook(look: Look | undefined): NotYet | undefined {
  if (look === undefined || !look.waits || look.is_void || look.is_paused) return notNow
  if (look.due_in_ms > 0) return look.due_in_ms <= waitMaxMs ? waits(look.due_in_ms) : notNow
  // First the receiver, so that what waits for one that hangs is not called when the key has room.
  if (look.under_way >= (look.is_failing ? placesOfFailingMax : placesMax)) return crowded('receiver')
  if (look.of_late >= perSecondMax) return look.is_next ? waits(look.room_in_ms ?? 0) : crowded('receiver')
  return look.of_key >= placesOfKeyMax ? crowded('key') : undefined
}

/** Of several at once, of which each that may begin takes a place from those after it. */
export function judgeLooks(looks: readonly (Look | undefined)[]): (NotYet | undefined)[] {
  const begun = new Map<string, number>()
  const count = (name: string) => begun.get(name) ?? 0
  return looks.map((look) => {
    if (look === undefined) return notNow
    const names = { receiver: `receiver ${look.receiver}`, key: `key ${look.key_id}` }
    const ofReceiver = count(names.receiver)
    const notYet = judgeLook({
      ...look,
      under_way: look.under_way + ofReceiver,
      of_key: look.of_key + count(names.key),
      of_late: look.of_late + ofReceiver,
    })
    if (notYet === undefined) for (const name of Object.values(names)) begun.set(name, count(name) + 1)
    return notYet
  })
}

const waits = (ms: number): NotYet => ({ kind: 'waits', againMs: Math.max(1, Math.ceil(ms)) })
