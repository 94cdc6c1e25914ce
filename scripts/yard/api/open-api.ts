import { existsSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { Failure, messageOf } from '../../services/terminal/failure.ts'
import { apiUrl } from '../../services/installation/installation.ts'
import type { ServerEvent } from './read-events.ts'
import { readEvents } from './read-events.ts'
import { oneLine } from '../text/terminal-text.ts'

// The API of the installation that runs here, called as anybody calls it.

export type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: object
  wait?: number
  idempotencyKey?: string | undefined
  signal?: AbortSignal
}

export type Following = {
  lastEventId?: string | undefined
  signal: AbortSignal
  /** It answers, whether or not there is news. */
  onOpen?: () => void
}

/** Where it listens, and where the first start left its key. */
export type Place = { config: { host: string; port: number }; paths: { adminKey: string } }

export type Api = {
  /** What it answered; what it refuses is thrown. */
  call(path: string, call?: Call): Promise<unknown>
  /** Events from there until it has no more. Throws when there is no answer, or silence. */
  events(path: string, following: Following): AsyncIterable<ServerEvent>
}

const answerTimeoutMs = 30_000
// Something is said every 15 s, if only that it is still there.
const silenceMaxMs = 45_000
const keyMaxLength = 1_000

/** There was no answer, or not now: it may come the next time. */
export class Unreachable extends Failure {}

/** `keyFile` holds a key; without one the admin key is used that the first start made. */
export function openApi(installation: Place, keyFile?: string): Api {
  const url = apiUrl(installation.config)
  const key = readKey(installation, keyFile)
  return {
    async call(path, { method = 'GET', body, wait, idempotencyKey, signal } = {}) {
      const timeout = AbortSignal.timeout(answerTimeoutMs + (wait ?? 0) * 1_000)
      const response = await reach(url, path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(wait !== undefined && { prefer: `wait=${wait}` }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      if (response.status >= 400) throw refusalOf(response, keyFile ?? installation.paths.adminKey)
      return response.body
    },
    async *events(path, { lastEventId, signal, onOpen }) {
      const silence = new AbortController()
      const fall = () => silence.abort(new DOMException('Nothing was heard', 'TimeoutError'))
      const timer = setTimeout(fall, silenceMaxMs)
      try {
        const response = await send(url, path, {
          headers: {
            authorization: `Bearer ${key}`,
            ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
          },
          signal: AbortSignal.any([signal, silence.signal]),
        })
        if (response.status >= 400)
          throw refusalOf(await readWhole(url, response), keyFile ?? installation.paths.adminKey)
        onOpen?.()
        yield* readEvents(response.body, () => timer.refresh())
      } catch (error) {
        throw explainReach(url, error)
      } finally {
        clearTimeout(timer)
        // Who stops reading wants no more of it.
        silence.abort()
      }
    },
  }
}

/** An answer as this release knows it. */
export function readAnswer<T extends z.ZodType>(schema: T, answer: unknown): z.output<T> {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw new Failure(
    'What runs answers otherwise than this release of ./yard expects: ./yard down, then ./yard up starts this one',
    { cause: parsed.error },
  )
}

function readKey({ paths }: Place, keyFile: string | undefined): string {
  const file = keyFile ?? paths.adminKey
  const mend =
    'make one with ./yard key create --name NAME --scope all > FILE, and name it by --key-file FILE'
  if (!existsSync(file))
    throw new Failure(
      keyFile === undefined
        ? `There is no key in ${file}: start Toolyard with ./yard up, which makes one; or ${mend}`
        : `There is no file ${file}: ${mend}`,
    )
  const key = readFileSync(file, 'utf8').trim()
  // Goes into a header: what is no key is told here, and not by whatever the header becomes.
  if (key.length > keyMaxLength || !/^[\x21-\x7e]+$/.test(key))
    throw new Failure(`${file} holds no key: ${mend}`)
  return key
}

type Reached = { status: number; body: unknown; text: string }

async function reach(url: string, path: string, request: RequestInit): Promise<Reached> {
  return readWhole(url, await send(url, path, request))
}

async function send(url: string, path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url + path, { ...request, redirect: 'error' })
  } catch (error) {
    throw explainReach(url, error)
  }
}

async function readWhole(url: string, response: Response): Promise<Reached> {
  try {
    const text = await response.text()
    return { status: response.status, body: parse(text), text }
  } catch (error) {
    throw explainReach(url, error)
  }
}

function explainReach(url: string, error: unknown): unknown {
  if (error instanceof Failure) return error
  if (error instanceof Error && error.name === 'TimeoutError')
    return new Unreachable(`Toolyard at ${url} does not answer: see ./yard status and ./yard logs api`)
  if (error instanceof Error && error.name === 'AbortError') return error
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new Unreachable(`Toolyard does not run at ${url} (${oneLine(messageOf(cause))}): ./yard up`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalOf({ status, body, text }: Reached, keyFile: string): Failure {
  const problem = readProblem(body)
  // Something else may listen there.
  if (problem === undefined)
    return new Failure(`It answered HTTP ${status} and no problem document: ${oneLine(text.slice(0, 300))}`)
  const { code, detail, faults } = problem
  const mend = code === 'unauthenticated' || code === 'missing_scope' ? ` (the key in ${keyFile})` : ''
  const lines = faults.map((fault) => `\n  ${oneLine(fault.pointer)} ${oneLine(fault.detail)}`)
  const Refusal = status === 503 || status === 429 ? Unreachable : Failure
  return new Refusal(`${oneLine(detail)}${mend}${lines.join('')}`)
}

type Problem = { code: string; detail: string; faults: { pointer: string; detail: string }[] }

function readProblem(body: unknown): Problem | undefined {
  if (!isObject(body) || typeof body['code'] !== 'string') return undefined
  const faults = Array.isArray(body['faults']) ? body['faults'].filter(isObject) : []
  return {
    code: body['code'],
    detail: textOf(body['detail'] ?? body['title']),
    faults: faults.map(({ pointer, detail }) => ({ pointer: textOf(pointer), detail: textOf(detail) })),
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
