import type { Json } from './parameters.ts'

// A line that looks like an object and is none costs 2 µs, so a megabyte of such lines would hold the process for two
// seconds. A tool that logs does so before its result: this many are enough.
const triesMax = 1_000

/** The object that a tool wrote: all of stdout, or else its last line that is one. */
export function readToolObject(stdout: string): Readonly<Record<string, Json>> | undefined {
  const whole = parse(stdout.replace(/^\u{feff}/u, ''))
  if (whole !== undefined) return toObject(whole)
  let tries = 0
  for (let end = stdout.length; end > 0 && tries < triesMax;) {
    const start = stdout.lastIndexOf('\n', end - 1) + 1
    const line = stdout.slice(start, end).trim()
    if (line.startsWith('{') && line.endsWith('}')) {
      tries += 1
      const found = toObject(parse(line))
      if (found !== undefined) return found
    }
    end = start - 1
  }
  return undefined
}

function parse(text: string): Json | undefined {
  try {
    // safe because JSON.parse makes nothing else
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const toObject = (value: Json | undefined) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
