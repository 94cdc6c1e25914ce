import { StringDecoder } from 'node:string_decoder'
import { createTail } from '../tail.ts'

// What an engine says while it builds: one JSON object a line. The text in it is a stranger's, of any length.

export type BuildOutput = {
  add(chunk: Buffer): void
  /** The container of the step that runs. */
  container: () => string | undefined
  /** How it went, once the engine has said all: the image, or the error; and the last lines before that. */
  read(): { id?: string; error?: string; lastLines: string }
}

export const detailMaxBytes = 8_192
const messageMaxLength = 1_048_576
const lineMaxLength = 1_000
const progressLinesMax = 10_000

export function createBuildOutput(onProgress: (line: string) => void): BuildOutput {
  const tail = createTail(detailMaxBytes)
  let lineCount = 0
  let id: string | undefined
  let error: string | undefined
  let container: string | undefined

  const lines = splitLines((raw) => {
    container = /^ ---> Running in ([0-9a-f]{12})$/.exec(raw)?.[1] ?? container
    const line = cleanText(raw).slice(0, lineMaxLength).trimEnd()
    if (line === '') return
    tail.add(Buffer.from(`${line}\n`))
    lineCount += 1
    if (lineCount < progressLinesMax) onProgress(line)
    else if (lineCount === progressLinesMax) onProgress('(what the build prints from here on is not shown)')
  })

  const messages = splitMessages((message) => {
    if ('stream' in message) lines.add(String(message.stream))
    else if ('status' in message && !isTick(message)) lines.add(statusLine(message))
    if ('error' in message) error = cleanText(String(message.error))
    if ('aux' in message && isObject(message.aux) && 'ID' in message.aux) id = String(message.aux.ID)
  })

  return {
    add: messages,
    container: () => container,
    read() {
      lines.end()
      const lastLines = tail.read().toString().trimEnd()
      return { ...(id === undefined ? {} : { id }), ...(error === undefined ? {} : { error }), lastLines }
    },
  }
}

/** The end of a text of several lines, without half a character. */
export function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - maxBytes
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.toString('utf8', start)
}

// Sequences for a terminal go as a whole; then whatever is left that would move a cursor or turn a line around.
const terminalSequences =
  /(?![\n\t])\p{Cc}(?:\[[0-?]*[ -/]*[@-~]|\](?:(?![\n\t])\P{Cc})*(?:(?![\n\t])\p{Cc}\\?)?)/gu
const unseen = /[\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]|(?![\n\t])\p{Cc}/gu

export const cleanText = (text: string) => text.replace(terminalSequences, '').replace(unseen, '')

/** Feeds whole JSON objects; one that is too long, or none, is left out. */
function splitMessages(onMessage: (message: object) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let pending = ''
  let isTooLong = false
  const take = (text: string) => {
    const message = isTooLong ? undefined : parseObject(text)
    isTooLong = false
    if (message !== undefined) onMessage(message)
  }
  return (chunk) => {
    const parts = decoder.write(chunk).split('\n')
    parts[0] = pending + (parts[0] ?? '')
    pending = parts.pop() ?? ''
    for (const part of parts) take(part)
    if (pending.length <= messageMaxLength) return
    pending = ''
    isTooLong = true
  }
}

/** Feeds whole lines of a text that comes in pieces. Of a line that is too long the beginning is kept. */
function splitLines(onLine: (line: string) => void) {
  // More than is shown, because control characters do not count.
  const keptMax = 4 * lineMaxLength
  let pending = ''
  return {
    add(text: string) {
      const parts = text.split(/\r\n|[\r\n]/)
      parts[0] = pending + (parts[0] ?? '')
      pending = (parts.pop() ?? '').slice(0, keptMax)
      for (const part of parts) onLine(part.slice(0, keptMax))
    },
    end() {
      if (pending !== '') onLine(pending)
      pending = ''
    },
  }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // safe to ignore because what decides stands in whole objects: without one the build has not succeeded
    return undefined
  }
}

/** One of the many messages by which a pull draws a bar. */
function isTick(message: object): boolean {
  if (!('progressDetail' in message)) return false
  const { progressDetail } = message
  return isObject(progressDetail) && Object.keys(progressDetail).length > 0
}

function statusLine(message: { status: unknown }): string {
  const id = 'id' in message ? `${String(message.id)}: ` : ''
  return `${id}${String(message.status)}\n`
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
