import { parseArgs } from 'node:util'
import type { ScheduleShape } from '@toolyard/contract/schedules'
import { scheduleShape, scheduleWithTicksShape } from '@toolyard/contract/schedules'
import { z } from 'zod'
import { askingOptions, openDesk } from '../api/desk.ts'
import type { Api } from '../api/open-api.ts'
import { readAnswer } from '../api/open-api.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { listLines, scheduleLines } from './schedule-lines.ts'

const page = z.object({ schedules: z.array(scheduleShape), next_cursor: z.string().nullable() })
const pageSize = 200

export async function listSchedules(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: askingOptions })
  const { api, tell } = openDesk(values)
  const schedules = await readAll(api)
  tell({ schedules }, (paint) => listLines(schedules, paint))
  return 0
}

export async function showSchedule(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: askingOptions, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const { api, tell } = openDesk(values)
  const answer = await api.call(`/schedules/${name}`)
  const shown = readAnswer(scheduleWithTicksShape, answer)
  tell(answer, (paint) => scheduleLines(shown, paint))
  return 0
}

async function readAll(api: Api): Promise<ScheduleShape[]> {
  const schedules: ScheduleShape[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const read = readAnswer(page, await api.call(`/schedules?limit=${pageSize}${after}`))
    schedules.push(...read.schedules)
    cursor = read.next_cursor
  }
  return schedules
}
