import type { SecureContext } from 'node:tls'
import { checkUrl } from './check-url.ts'
import { dial } from './dial.ts'
import type { Message } from './exchange.ts'
import { exchange } from './exchange.ts'
import type { NameService } from './resolve-target.ts'
import { resolveTarget } from './resolve-target.ts'

export type PostRequest = Message & {
  url: string
  /** From before the look-up to the end of the answer. Default 15 s. */
  deadlineMs?: number
  signal?: AbortSignal
}

export type PostAnswer =
  | {
      kind: 'answered'
      status: number
      /** Written by strangers: at most 4,096 bytes, no control characters but newline and tab. */
      body: string
      retryAfter?: string
      tookMs: number
    }
  | {
      kind: 'unreachable'
      reason: 'refused_address' | 'dns' | 'connect' | 'tls' | 'timeout' | 'broken_off'
      /** In words, without anything that the other side wrote or an address of ours. */
      detail: string
      tookMs: number
    }

export type Network = NameService & { secureContext: SecureContext }

const deadlineMsDefault = 15_000

/**
 * Sends one POST. The address that is dialled is one that was checked in this very call, and nothing is looked up
 * twice. Redirects are answers like others. Whatever the network does is an answer; only when the caller's own signal
 * aborts does it reject, with that signal's reason.
 */
export async function post(request: PostRequest, network: Network): Promise<PostAnswer> {
  const { deadlineMs = deadlineMsDefault, signal } = request
  signal?.throwIfAborted()
  const startedAt = performance.now()
  const tookMs = () => Math.round(performance.now() - startedAt)
  const limit = new AbortController()
  const expiry = new Expiry()
  const timer = setTimeout(() => limit.abort(expiry), deadlineMs)
  const cancel = () => limit.abort(signal?.reason)
  signal?.addEventListener('abort', cancel)
  const course: Course = { phase: '', signal: limit.signal, deadlineAt: startedAt + deadlineMs }
  try {
    return { ...(await send(request, network, course)), tookMs: tookMs() }
  } catch (error) {
    if (error !== expiry) throw error
    const detail = `${deadlineMs} ms were over while ${course.phase}`
    return { ...unreachable('timeout', detail), tookMs: tookMs() }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

type Course = { phase: string; signal: AbortSignal; deadlineAt: number }

async function send(request: PostRequest, network: Network, course: Course) {
  const verdict = checkUrl(request.url, network.rules)
  if (verdict.kind === 'refused') return unreachable('refused_address', `the URL ${verdict.reason}`)
  const { target } = verdict
  course.phase = 'looking up the name'
  const resolution = await resolveTarget(target, network, course.signal)
  if (resolution.kind === 'unreachable') return resolution
  course.phase = 'connecting'
  const { signal, deadlineAt } = course
  const dialled = await dial(target, resolution.addresses, {
    secureContext: network.secureContext,
    signal,
    deadlineAt,
  })
  if (dialled.kind === 'unreachable') return dialled
  course.phase = 'waiting for the answer'
  return exchange(dialled.socket, target, request, signal)
}

const unreachable = <Reason extends string>(reason: Reason, detail: string) =>
  ({ kind: 'unreachable', reason, detail }) as const

class Expiry extends Error {}
