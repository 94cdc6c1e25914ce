// The services write JSON lines. People read these.

const colours: Record<string, number> = { debug: 90, info: 36, warn: 33, error: 31 }
const serviceColours: Record<string, number> = { api: 35, worker: 34, scheduler: 32, supervisor: 33 }
const prefixWidth = 10

/**
 * `12:00:00.123 INFO  message  key=value …`; a line that is no log line stays as it is. `brief`: of an error its words,
 * and not where in the code it rose.
 */
export function formatLogLine(line: string, options: { colour: boolean; brief?: boolean }): string {
  const entry = parseEntry(line)
  if (entry === undefined) return line
  const { level, time, message, service: _service, pid: _pid, ...fields } = entry
  const paint = (text: string, colour: number) =>
    options.colour ? `\u001B[${colour}m${text}\u001B[0m` : text
  const clock = typeof time === 'string' ? time.slice(11, 23) : ''
  const known = (typeof level === 'string' ? colours[level] : undefined) ?? 36
  const word = textOf(level).toUpperCase().padEnd(5)
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${formatValue(value, options.brief)}`)
  return [paint(clock, 90), paint(word, known), textOf(message), paint(rest.join(' '), 90)]
    .join(' ')
    .trimEnd()
}

/** The service's name before a line, in its colour. */
export function prefixed(service: string, line: string, options: { colour: boolean }): string {
  const prefix = `${service.padEnd(prefixWidth)}| `
  return `${options.colour ? `\u001B[${serviceColours[service] ?? 37}m${prefix}\u001B[0m` : prefix}${line}`
}

/** When the line was written, as far as it says so. */
export const timeOf = (line: string): string | undefined => {
  const time = parseEntry(line)?.['time']
  return typeof time === 'string' ? time : undefined
}

function formatValue(value: unknown, brief = false): string {
  if (brief && isRecord(value) && typeof value['stack'] === 'string') return `\n  ${textOf(value['message'])}`
  if (isRecord(value) && typeof value['stack'] === 'string')
    return `\n  ${value['stack'].replaceAll('\n', '\n  ')}`
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value)
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    // safe to ignore because a line that is no JSON is shown as it is
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
