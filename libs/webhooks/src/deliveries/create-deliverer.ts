import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@toolyard/log/logger'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import type { Vault } from '@toolyard/vault/open-vault'
import type { Sender } from '../guard/create-sender.ts'
import type { Batches } from './create-batches.ts'
import { createBatches } from './create-batches.ts'
import type { Keyring } from './create-keyring.ts'
import { createKeyring } from './create-keyring.ts'
import type { Next } from './decide-next.ts'
import { decideNext } from './decide-next.ts'
import { dropUntold } from './drop-untold.ts'
import { dropVoid } from './drop-void.ts'
import type { Look } from './look.ts'
import type { ReadyMessage, Sent } from './send.ts'
import { faultOf, send } from './send.ts'

export type DelivererDeps = {
  vault: Vault
  queues: Pick<Queues, 'enqueue'>
  sender: Sender
  log: Logger
  /** What came of each try. */
  onTried?: (outcome: Next['kind'] | 'lost') => void
  random?: () => number
}

/** `againMs`: not now, but then. `next`: whose turn it is now, and who is in no queue. */
export type Delivered = ({ kind: 'done' } | { kind: 'again'; againMs: number }) & {
  next?: NewJob<'deliveries'>
}

/** One try of one delivery. Its job is only a hint: the row decides whether there is one to make. */
export type Deliver = (id: string, signal: AbortSignal) => Promise<Delivered>

const done: Delivered = { kind: 'done' }
const again = (ms: number): Delivered => ({ kind: 'again', againMs: Math.ceil(ms) })

// Its webhook was changed while it was made ready, or the last place was taken; more than once in a row is chance, more
// than five times is not.
const changesMax = 5
const changedMs = 100
// To begin takes a few milliseconds, and for that long a job may wait; whoever writes a webhook may take longer.
const turnsMax = 8
const turnMs = 20
const contendedMs = 250

type UnderWay = Promise<{ startedAt: Date; sent: Sent } | { error: unknown }>
type Parts = { deps: DelivererDeps; batches: Batches<UnderWay>; keyring: Keyring }

/** One per process: deliveries that are under way together ask the database together. */
export function createDeliverer(deps: DelivererDeps): Deliver {
  const { vault, queues } = deps
  const parts = { deps, batches: createBatches<UnderWay>(vault.pool, queues), keyring: createKeyring(vault) }
  return async (id, signal) => {
    for (let changes = 0; changes < changesMax; changes++) {
      const look = await parts.batches.look(id)
      if ('kind' in look) return look.kind === 'waits' ? again(look.againMs) : done
      const delivered = await tryOnce(parts, look, signal)
      if (delivered !== 'changed') return delivered
    }
    return again(changedMs)
  }
}

async function tryOnce(parts: Parts, look: Look, signal: AbortSignal): Promise<Delivered | 'changed'> {
  const { deps, batches, keyring } = parts
  const { id, receiver, version, url } = look
  const [body, keys] = await Promise.all([batches.body(look), keyring(look)])
  if (body === null || url === null) {
    await dropUntold(deps.vault.pool, id)
    return done
  }
  const start = () => underWay(deps, { id, url, body, keys }, signal)
  const begun = await beginInTurn(parts, { id, receiver, version, start }, signal)
  if (begun.kind === 'changed' || begun.kind === 'crowded') return 'changed'
  if (begun.kind === 'not_now') return done
  if (begun.kind === 'waits') return again(begun.againMs)
  if (begun.kind === 'contended') return again(contendedMs)
  const sent = await begun.underWay
  // Its lease runs out, and it is tried again.
  if ('error' in sent) throw sent.error
  return write(parts, look, { try: begun.try, token: begun.token, ...sent })
}

/** Other processes that begin to the same receiver are not waited for in the database. */
async function beginInTurn(
  { deps: { random = Math.random }, batches }: Parts,
  item: Parameters<Batches<UnderWay>['begin']>[0],
  signal: AbortSignal,
) {
  for (let turn = 1; ; turn++) {
    const begun = await batches.begin(item)
    if (begun.kind !== 'contended' || turn === turnsMax) return begun
    await delay(random() * turn * turnMs, undefined, { signal })
  }
}

/** It is under way before anybody awaits it. */
function underWay({ sender }: DelivererDeps, message: ReadyMessage, signal: AbortSignal): UnderWay {
  const startedAt = new Date()
  return send(sender, message, { startedAt, signal }).then(
    (sent) => ({ startedAt, sent }),
    (error: unknown) => ({ error }),
  )
}

type Ended = { try: number; token: string; startedAt: Date; sent: Sent }

async function write(
  { deps, batches }: Parts,
  { id, receiver }: Look,
  { try: attempt, token, startedAt, sent }: Ended,
): Promise<Delivered> {
  const { vault, log, onTried, random = Math.random } = deps
  const { tookMs } = sent
  const isAnswered = sent.kind === 'answered'
  const outcome = isAnswered ? { status: sent.status, retryAfter: sent.retryAfter } : {}
  const next = decideNext(outcome, attempt, new Date(startedAt.getTime() + tookMs), random())
  const status = isAnswered ? sent.status : null
  const answer = isAnswered ? sent.body : null
  const tried = { try: attempt, startedAt, tookMs, status, fault: faultOf(sent), answer, next }
  const isOurs = await batches.end({ id, receiver, token, ...tried })
  const became = isOurs ? next.kind : 'lost'
  onTried?.(became)
  log[next.kind === 'delivered' ? 'debug' : 'info']('a delivery was tried', {
    delivery: id,
    try: attempt,
    status,
    next: became,
  })
  if (!isOurs) return done
  if (next.kind === 'gone') await dropVoid(vault.pool, receiver)
  const called = await batches.call({ id, receiver, token })
  return {
    ...(next.kind === 'again' ? again(next.afterMs) : done),
    ...(called === null ? {} : { next: called }),
  }
}
