import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { addressOf } from '../database/database.ts'
import { Failure, messageOf } from '../terminal/failure.ts'

const pollMs = 100
const answerTimeoutMs = 3_000

/** Waits until the Redis of this URL answers a PING. The password never appears in a message. */
export async function waitForRedis(url: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await pingRedis(url)
    if (answer === 'PONG') return
    signal.throwIfAborted()
    // Wrong credentials do not become right by waiting.
    if (/^(NOAUTH|WRONGPASS|NOPERM|ERR)/.test(answer) || performance.now() > deadline) {
      const mend = 'start it or correct REDIS_URL; unset, the queue lives in Postgres'
      throw new Failure(`No Redis at ${addressOf(url)} (${answer}): ${mend}`)
    }
    await delay(pollMs)
  }
}

/** `PONG`, or in words why not. Speaks the protocol itself: a client that reconnects for ever would be in the way. */
export async function pingRedis(url: string): Promise<string> {
  const { protocol, hostname, port, username, password } = new URL(url)
  const options = { host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port || 6379) }
  const socket =
    protocol === 'rediss:' ? connectTls({ ...options, servername: hostname }) : connectTcp(options)
  try {
    const credentials = [username, password].filter(Boolean).map(decodeURIComponent)
    const login = credentials.length === 0 ? [] : [['AUTH', ...credentials]]
    return await exchange(socket, [...login, ['PING']])
  } catch (error) {
    return messageOf(error)
  } finally {
    socket.destroy()
  }
}

// Every command here is answered by one line; the first that is an error, or else the last, is the answer.
function exchange(socket: Socket, commands: readonly (readonly string[])[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    socket.setTimeout(answerTimeoutMs, () => reject(new Error(`no answer within ${answerTimeoutMs} ms`)))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    socket.on('data', (data) => {
      received += data.toString('utf8')
      const lines = received.split('\r\n').slice(0, -1)
      const refusal = lines.find((line) => line.startsWith('-'))
      if (refusal !== undefined) resolve(refusal.slice(1))
      else if (lines.length >= commands.length) resolve((lines.at(-1) ?? '').slice(1))
    })
    socket.write(commands.map(encode).join(''))
  })
}

const encode = (words: readonly string[]) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
