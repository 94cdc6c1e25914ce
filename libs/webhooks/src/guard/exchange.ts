import type { IncomingMessage } from 'node:http'
import { request as openRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Target } from './check-url.ts'
import { answerBytesMax, cleanAnswer, cleanRetryAfter } from './clean-answer.ts'
import { failureWords } from './failure-words.ts'

export type Message = { headers: Readonly<Record<string, string>>; body: Buffer }

export type Exchanged =
  | { kind: 'answered'; status: number; body: string; retryAfter?: string }
  | { kind: 'unreachable'; reason: 'broken_off'; detail: string }

const headBytesMax = 16_384
const interimAnswersMax = 8

/**
 * One POST and its answer over a connection of its own, which is closed afterwards. There is no agent, hence neither a
 * pool nor a proxy of the environment. Rejects with the signal's reason.
 */
export async function exchange(
  socket: Socket,
  target: Target,
  { headers, body }: Message,
  signal: AbortSignal,
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>()
  const breakOff = (detail: string) => resolve({ kind: 'unreachable', reason: 'broken_off', detail })
  // safe because whoever aborts gives an Error or takes the default, which is one
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop)
  try {
    signal.throwIfAborted()
    const request = openRequest({
      createConnection: () => socket,
      method: 'POST',
      path: target.path,
      headers: ownHeaders(target, headers, body),
      setHost: false,
      maxHeaderSize: headBytesMax,
      insecureHTTPParser: false,
    })
    let interimAnswers = 0
    request.on('information', () => {
      interimAnswers++
      if (interimAnswers > interimAnswersMax) breakOff('it sent too many interim answers')
    })
    request.on('upgrade', ({ statusCode }) =>
      resolve({ kind: 'answered', status: statusCode ?? 0, body: '' }),
    )
    let isAnswered = false
    request.on('response', (response) => {
      isAnswered = true
      readAnswer(response, resolve)
    })
    request.on('error', (error) => breakOff(failureWords(error)))
    request.on('close', () => {
      // It may come before the end of an answer that is complete, which then has the word.
      if (!isAnswered) breakOff('the connection was closed before an answer')
    })
    request.end(body)
    return await promise
  } finally {
    signal.removeEventListener('abort', stop)
    socket.destroy()
  }
}

const ourHeaders = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
]

/** Who could set these headers could address another host behind the same door, or a second request. */
function ownHeaders({ authority }: Target, headers: Readonly<Record<string, string>>, body: Buffer) {
  const refused = Object.keys(headers).find((name) => ourHeaders.includes(name.toLowerCase()))
  if (refused !== undefined) throw new TypeError(`the header ${refused} is set by the sender alone`)
  return { ...headers, host: authority, connection: 'close', 'content-length': String(body.length) }
}

function readAnswer(response: IncomingMessage, resolve: (exchanged: Exchanged) => void): void {
  const status = response.statusCode ?? 0
  const retryAfter = cleanRetryAfter(response.headers['retry-after'])
  const chunks: Buffer[] = []
  let byteCount = 0
  const answer = () =>
    resolve({
      kind: 'answered',
      status,
      body: cleanAnswer(Buffer.concat(chunks)),
      ...(retryAfter !== undefined && { retryAfter }),
    })
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    byteCount += chunk.length
    if (byteCount >= answerBytesMax) answer()
  })
  response.on('end', answer)
  const breakOff = () =>
    resolve({
      kind: 'unreachable',
      reason: 'broken_off',
      detail: `the connection was closed in the middle of an answer of status ${status}`,
    })
  response.on('error', breakOff)
  response.on('close', breakOff)
}
