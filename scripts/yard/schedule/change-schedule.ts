import { parseArgs } from 'node:util'
import { nearestWord } from '@toolyard/contract/nearest-word'
import type { ChangeScheduleBody } from '@toolyard/contract/schedules'
import { scheduleShape } from '@toolyard/contract/schedules'
import type { Desk } from '../api/desk.ts'
import { askingOptions, openDesk } from '../api/desk.ts'
import type { Call } from '../api/open-api.ts'
import { readAnswer } from '../api/open-api.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { nextLines } from './schedule-lines.ts'

const texts = ['schedule', 'timezone', 'overlap'] as const
const numbers = ['catch_up_seconds', 'jitter_seconds', 'pause_after'] as const
const keys: readonly string[] = [...texts, ...numbers]

export async function pauseSchedule(args: string[]): Promise<number> {
  const options = { ...askingOptions, reason: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const { reason } = values
  if (reason === undefined) throw new UsageFault('--reason is missing: whoever finds it paused will ask')
  const call = { method: 'POST', body: { reason } } as const
  return change(openDesk(values), { path: `/schedules/${name}/pause`, call, done: `${name} is paused` })
}

export async function resumeSchedule(args: string[]): Promise<number> {
  const options = { ...askingOptions, 'catch-up': { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const call = { method: 'POST', body: { catch_up: values['catch-up'] } } as const
  return change(openDesk(values), { path: `/schedules/${name}/resume`, call, done: `${name} goes on` })
}

export async function setSchedule(args: string[]): Promise<number> {
  const options = { ...askingOptions, unset: { type: 'string', multiple: true } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [word, ...pairs] = positionals
  if (word === undefined) throw new UsageFault('NAME is missing')
  const name = requireToolName(word)
  const call = { method: 'PATCH', body: readTiming(pairs, values.unset ?? []) } as const
  return change(openDesk(values), { path: `/schedules/${name}`, call, done: `${name} is changed` })
}

async function change(
  { api, tell }: Desk,
  { path, call, done }: { path: string; call: Call; done: string },
): Promise<number> {
  const answer = await api.call(path, call)
  const changed = readAnswer(scheduleShape, answer)
  tell(answer, () => [done, ...nextLines(changed)])
  return 0
}

/** What the manifest is to be overruled in; null goes back to it. */
export function readTiming(pairs: readonly string[], unset: readonly string[]): ChangeScheduleBody {
  const given = new Map<string, string | number | null>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at <= 0) throw new UsageFault("it is set as KEY=VALUE, as 'schedule=0 8 * * MON-FRI'")
    take(given, pair.slice(0, at), pair.slice(at + 1))
  }
  for (const key of unset) take(given, key, null)
  if (given.size === 0) throw new UsageFault(`nothing is set: KEY is one of ${keys.join(', ')}`)
  return Object.fromEntries(given)
}

function take(given: Map<string, string | number | null>, key: string, value: string | null): void {
  if (!keys.includes(key)) {
    const meant = nearestWord(key, keys)
    const mend = meant === undefined ? `KEY is one of ${keys.join(', ')}` : `did you mean ${meant}?`
    throw new UsageFault(`there is no ${JSON.stringify(key)}: ${mend}`)
  }
  if (given.has(key)) throw new UsageFault(`${key} is given twice`)
  given.set(key, value !== null && isNumber(key) ? readNumber(key, value) : value)
}

const isNumber = (key: string) => numbers.some((name) => name === key)

function readNumber(key: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new UsageFault(`${key} must be a whole number`)
}
