import { parseArgs } from 'node:util'
import { backfilledShape, triggeredShape } from '@toolyard/contract/schedules'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readAnswer } from '../api/open-api.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { oneLine } from '../text/terminal-text.ts'

/** Exit code 1: what runs is in its way, and nothing was started. */
export async function triggerSchedule(args: string[]): Promise<number> {
  const options = { ...askingOptions, overlap: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const { api, tell, note } = openDesk(values)
  const body = values.overlap === undefined ? {} : { overlap: values.overlap }
  const answer = await api.call(`/schedules/${name}/trigger`, { method: 'POST', body })
  const { fate, invocation_id: id } = readAnswer(triggeredShape, answer)
  const words = {
    fired: `${name} is called: ${id}`,
    buffered: `${name} starts when what runs has ended`,
    skipped: `${name} runs already, and nothing was started: see --overlap`,
  }
  tell(answer, () => [oneLine(words[fate])])
  if (id !== null) note(oneLine(`Follow it with ./yard watch ${id}`))
  return fate === 'skipped' ? 1 : 0
}

export async function backfillSchedule(args: string[]): Promise<number> {
  const options = { ...askingOptions, from: { type: 'string' }, until: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  if (values.from === undefined) throw new UsageFault('--from is missing')
  const body = {
    from: readTime('--from', values.from),
    until: values.until === undefined ? new Date().toISOString() : readTime('--until', values.until),
  }
  const { api, tell } = openDesk(values)
  const answer = await api.call(`/schedules/${name}/backfill`, { method: 'POST', body })
  const { added, already } = readAnswer(backfilledShape, answer)
  tell(answer, () => [`${added} times of ${name} run now or wait to, ${already} had run or waited already`])
  return 0
}

/** With its zone: whose eight o'clock is meant is not guessed. */
export function readTime(option: string, text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const at = new Date(text)
  if (isTime && !Number.isNaN(at.getTime())) return at.toISOString()
  throw new UsageFault(`${option} must be a time with its zone, as 2026-11-21T08:00:00Z or …T09:00+01:00`)
}
