import { existsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { nearestWord } from '@toolyard/contract/nearest-word'
import { Failure, codeOf } from '../services/terminal/failure.ts'
import type { Installation } from '../services/installation/installation.ts'
import { logFile, openInstallation } from '../services/installation/installation.ts'
import { formatLogLine, prefixed, timeOf } from '../services/logs/log-line.ts'
import { appNames } from '../services/supervisor/state.ts'
import { tailLines } from '../services/logs/tail.ts'

const services = [...appNames, 'supervisor', 'postgres', 'engine']
const defaultServices = [...appNames, 'supervisor']
const linesMax = 100_000
const pollMs = 250

export async function logs(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      follow: { type: 'boolean', short: 'f', default: false },
      lines: { type: 'string', short: 'n', default: '50' },
    },
  })
  const count = readCount(values.lines)
  for (const name of positionals) refuseUnknown(name)
  const names = positionals.length > 0 ? positionals : defaultServices
  const installation = openInstallation()
  const show = createPrinter(names.length > 1)
  const offsets = new Map(names.map((name) => [name, sizeOf(logFile(installation, name))]))
  for (const [name, line] of lastLines(installation, names, count)) show(name, line)
  if (values.follow) await follow(installation, offsets, show)
  return 0
}

/** The last lines of all of them, in the order in which they were written. */
export function mergeByTime(
  logsByName: readonly (readonly [string, readonly string[]])[],
  count: number,
): [string, string][] {
  const dated = logsByName.flatMap(([name, lines]) => {
    let time = ''
    // A line without a time, as of a stack, belongs to the one before it.
    return lines.map((line) => ({ name, line, time: (time = timeOf(line) ?? time) }))
  })
  const sorted = dated.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  return sorted.slice(-count).map(({ name, line }) => [name, line])
}

const lastLines = (installation: Installation, names: string[], count: number) =>
  count === 0
    ? []
    : mergeByTime(
        names.map((name) => [name, tailLines(logFile(installation, name), count)] as const),
        count,
      )

async function follow(
  installation: Installation,
  offsets: Map<string, number>,
  show: (name: string, line: string) => void,
) {
  const rests = new Map<string, string>()
  for (;;) {
    for (const [name, offset] of offsets) {
      const path = logFile(installation, name)
      const size = sizeOf(path)
      // Shorter than it was: rotated or cut, so what is there now is all new.
      const from = size < offset ? 0 : offset
      if (size === from) continue
      const pieces = `${rests.get(name) ?? ''}${await readBetween(path, from, size)}`.split('\n')
      rests.set(name, pieces.pop() ?? '')
      offsets.set(name, size)
      for (const line of pieces) show(name, line)
    }
    await delay(pollMs)
  }
}

async function readBetween(path: string, from: number, to: number): Promise<string> {
  const file = await open(path)
  try {
    const buffer = Buffer.alloc(to - from)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

// On a terminal for people, into a pipe for programs.
function createPrinter(several: boolean): (name: string, line: string) => void {
  const colour = process.stdout.isTTY && process.stdout.hasColors()
  process.stdout.once('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error
    // Whoever reads has seen enough, as `head` has.
    process.exit(0)
  })
  return (name, line) => {
    const text = process.stdout.isTTY ? formatLogLine(line, { colour }) : line
    process.stdout.write(`${several && process.stdout.isTTY ? prefixed(name, text, { colour }) : text}\n`)
  }
}

function readCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : undefined
  if (count === undefined || count > linesMax)
    throw new Failure(`-n takes a number of lines up to ${linesMax}`)
  return count
}

function refuseUnknown(name: string): void {
  if (services.includes(name)) return
  const nearest = nearestWord(name, services)
  throw new Failure(
    `There is no service "${name}"${nearest === undefined ? '' : `; did you mean ${nearest}`}? They are: ${services.join(', ')}`,
  )
}

const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0)
