import type { AttemptBudget } from '@toolyard/access/attempt-budget'
import { createAttemptBudget } from '@toolyard/access/attempt-budget'
import type { MinuteBudget } from '@toolyard/access/minute-budget'
import { createMinuteBudget } from '@toolyard/access/minute-budget'
import type { Catalog, CatalogView } from '@toolyard/catalog/create-catalog'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { findReplayed } from '@toolyard/invocations/find-replayed'
import { isFinal } from '@toolyard/contract/invocations'
import type { Submitter } from '@toolyard/invocations/submitter'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Vault } from '@toolyard/vault/open-vault'
import type { Context } from 'hono'
import type { Api } from '../../create-api.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import type { AddressReader } from '../../http/client-address.ts'
import { awaitEnd } from '../invocations/await-end.ts'
import { preferredWaitMs } from '../invocations/prefer-wait.ts'
import type { Accepted } from '../invocations/submit-call.ts'
import { submitCall } from '../invocations/submit-call.ts'
import { toEndedHook } from './hook-answer.ts'
import { toHookParam } from './hook-param.ts'
import { describeHookSecurity, postHook } from './hook-route.ts'
import { idempotencyOfHook, prepareHook } from './prepare-hook.ts'
import { readRawBody } from './read-raw-body.ts'
import type { Place } from './receiving-room.ts'
import { createReceivingRoom } from './receiving-room.ts'
import { unverified } from './unverified.ts'
import { verifySender } from './verify-sender.ts'

export const hookMaxBytes = 524_288
// For its body; who is slower, or says nothing, holds room that others need.
const arrivalMs = 10_000
const silenceMs = 2_000
// More than an installation has tools: a name is counted once its sender is verified.
const toolsMax = 10_000

export type HookLimits = {
  /** Messages of one address that were not believed. */
  failuresPerMinute: number
  /** Messages for one tool that were. */
  callsPerMinute: number
}

export type HookDeps = {
  pool: Pool
  catalog: Catalog
  vault: () => Promise<Vault>
  submitter: Submitter
  watcher: Watcher
  clientAddress: AddressReader
  limits: HookLimits
}

type Budgets = { failures: AttemptBudget; calls: MinuteBudget }

/** Messages from outside. Until one is verified its sender is a stranger, and learns nothing and costs little. */
export function addHookRoute(api: Api, deps: HookDeps): void {
  const { clientAddress, limits } = deps
  const monotonicMs = () => performance.now()
  const failures = createAttemptBudget({
    perMinute: limits.failuresPerMinute,
    monotonicMs,
    refusal: 'Too many messages that nobody believes came from this address',
  })
  const calls = createMinuteBudget({ perMinute: limits.callsPerMinute, monotonicMs, namesMax: toolsMax })
  const room = createReceivingRoom()

  describeHookSecurity(api)
  api.openapi(postHook, async (c) => {
    const { tool } = c.req.valid('param')
    const address = clientAddress(c)
    const place = room.take({ tool, address, isSpent: failures.isSpent(address) })
    let accepted: Accepted
    try {
      accepted = await receive(deps, { failures, calls }, c, { tool, address, place })
    } finally {
      place.leave()
    }
    const { invocation, replayed } = accepted
    c.get('event').set({ invocation_id: invocation.id, tool })
    if (replayed) c.header('idempotency-replayed', 'true')
    const waitMs = preferredWaitMs(c.req.valid('header').prefer, 0)
    if (waitMs === 0) return c.json({ id: invocation.id }, 202)
    const now = await awaitEnd(deps, invocation, {
      // It is the platform's own call, which no key is asked for.
      actor: { kind: 'operator' },
      waitMs,
      signal: c.req.raw.signal,
      event: c.get('event'),
    })
    return isFinal(now.status) ? c.json(toEndedHook(now), 200) : c.json({ id: now.id }, 202)
  })
}

type Arrived = { tool: string; address: string; place: Place }

async function receive(
  deps: HookDeps,
  { failures, calls }: Budgets,
  c: Context<ApiEnv>,
  { tool, address, place }: Arrived,
): Promise<Accepted> {
  const { headers } = c.req.raw
  const reading = { arrivalMs, silenceMs, onBytes: place.grow }
  const body = await readRawBody(c.req.raw, reading).catch((error: unknown) => {
    // That there is no room is not the sender's fault.
    if (!isCrowded(error)) failures.spend(address)
    throw error
  })
  const receivedAt = new Date()
  const sender = await verifySender(deps, tool, { headers, body })
  if (!sender.ok) {
    c.get('event').set({ hook_refusal: sender.reason, hook_detail: sender.detail })
    failures.spend(address)
    throw unverified()
  }
  const { trigger, eventId } = sender
  const idempotency = idempotencyOfHook(tool, sender, body)
  const findEarlier = () => findReplayed(deps.pool, { keyId: null, idempotency })
  // First: whoever has seen a message could use up the minute of the tool with it.
  const earlier = await findEarlier()
  if (earlier !== undefined) return earlier
  const retryAfterSeconds = calls.spend(tool)
  if (retryAfterSeconds !== undefined) {
    throw new AppError('rate_limited', `${tool} has had its messages of this minute`, { retryAfterSeconds })
  }
  const param = toHookParam({ headers, body, eventId, receivedAt }, trigger.headers)
  const hook = { tool, trigger, idempotency, param }
  const prepare = (view: CatalogView) => prepareHook({ view, pool: deps.pool }, hook)
  return submitCall(deps, { tool, prepare, findEarlier })
}

const isCrowded = (error: unknown) => error instanceof AppError && error.code === 'rate_limited'
