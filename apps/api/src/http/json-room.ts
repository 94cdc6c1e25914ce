import { AppError } from '@toolyard/contract/errors'

// What is made of a JSON text costs by its names and values, not by its bytes: 200,000 names in 2 MB held the process
// for 3 s in a schema that looks at each. A list of as many numbers takes 30 ms, so of those there may be more.
export const namesMax = 10_000
export const valuesMax = 100_000

/** The names and values that a request may still bring. */
export type JsonRoom = {
  /** The refusal of a text with more than that, before anything is made of it; any other takes what it has. */
  refuse: (text: string) => AppError | undefined
}

export function createJsonRoom(): JsonRoom {
  let left = { names: namesMax, values: valuesMax }
  return {
    refuse(text) {
      const now = countDown(text, left)
      if (now.names >= 0 && now.values >= 0) {
        left = now
        return undefined
      }
      const most = `${namesMax} names and ${valuesMax} values`
      return new AppError('payload_too_large', `There may be at most ${most} in the JSON of a request`)
    },
  }
}

type Left = { names: number; values: number }

/** What is left after this text; below zero where there was more, of which the rest is not looked at. */
function countDown(text: string, before: Left): Left {
  let { names, values } = before
  for (let at = 0; at < text.length && names >= 0 && values >= 0; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) at = endOfString(text, at)
    else if (sign === colon) names -= 1
    else if (sign === comma || sign === bracket || sign === brace) values -= 1
  }
  return { names, values }
}

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/** Where the string that begins at a quote ends; the end of the text, if it does not. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (let sign = text.charCodeAt(at); at < text.length && sign !== quote; sign = text.charCodeAt(at))
    at += sign === backslash ? 2 : 1
  return at
}
