import { unprintable } from '@toolyard/contract/unprintable'

export const answerBytesMax = 4_096
const retryAfterLengthMax = 100

const unwanted = new RegExp(`(?![\\n\\t])[${unprintable}]`, 'gu')

/**
 * What of an answer's body may be stored and shown: at most 4,096 bytes before and after, without controls. Broken
 * bytes become U+FFFD, which is longer than they are, so it is cut once more.
 */
export function cleanAnswer(received: Buffer): string {
  const isCut = received.length >= answerBytesMax
  // With `stream`, a character that the cut went through is left out and not called broken.
  const text = new TextDecoder().decode(received.subarray(0, answerBytesMax), { stream: isCut })
  const clean = Buffer.from(text.replaceAll('\r\n', '\n').replace(unwanted, ''))
  return new TextDecoder().decode(clean.subarray(0, answerBytesMax), { stream: true })
}

/** A Retry-After as it came, for the reader of dates and seconds, but of sane length and characters. */
export function cleanRetryAfter(header: string | undefined): string | undefined {
  return header?.slice(0, retryAfterLengthMax).replaceAll(/[^\x20-\x7e]/g, '')
}
