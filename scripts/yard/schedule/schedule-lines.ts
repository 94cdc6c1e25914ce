import type { ScheduleShape, ScheduleWithTicks } from '@toolyard/contract/schedules'
import type { Paint } from '../text/paint.ts'
import { columns, indent, oneLine } from '../text/terminal-text.ts'

export function listLines(schedules: readonly ScheduleShape[], paint: Paint): string[] {
  if (schedules.length === 0) return ['There is no cron tool; see docs/schedules.md']
  const [head = '', ...rows] = columns([
    ['TOOL', 'SCHEDULE', 'NEXT', 'LAST', 'MISSED', 'SKIPPED'].map(paint.faint),
    ...schedules.map((one) => [
      paint.strong(oneLine(one.tool)),
      timeWord(one),
      nextWord(one, paint),
      lastWord(one, paint),
      String(one.missed),
      String(one.skipped),
    ]),
  ])
  return [head, ...rows.flatMap((row, index) => [row].concat(troubleOf(schedules[index], paint)))]
}

export function scheduleLines(shown: ScheduleWithTicks, paint: Paint): string[] {
  const { overlap, catch_up_seconds: catchUp, jitter_seconds: jitter, pause_after: pauseAfter } = shown
  return [
    `${paint.strong(oneLine(shown.tool))}  ${timeWord(shown)}`,
    ...troubleOf(shown, paint),
    ...columns([
      ['overlap', overlap],
      ['catch-up', `${catchUp} s`],
      ['jitter', `${jitter} s`],
      ['pauses', pauseAfter === null ? 'never by itself' : `after ${pauseAfter} failures in a row`],
      ...(shown.overrides.length === 0 ? [] : [['set here', oneLine(shown.overrides.join(', '))]]),
      ['last', lastWords(shown, paint)],
      ['so far', soFar(shown)],
    ]).map((line) => indent(line)),
    ...nextLines(shown),
    ...tickLines(shown, paint),
  ]
}

/** What a change of a schedule is answered with. */
export function nextLines({ next }: ScheduleShape): string[] {
  return next.length === 0 ? [] : ['next', ...next.map(({ local }) => indent(oneLine(local)))]
}

const timeWord = ({ schedule, timezone }: ScheduleShape) => oneLine(`${schedule} ${timezone}`)

function nextWord({ paused, next }: ScheduleShape, paint: Paint): string {
  if (paused !== null) return paint.warning('paused')
  return next[0] === undefined ? paint.bad('never') : oneLine(next[0].local)
}

function lastWord({ last_result: last }: ScheduleShape, paint: Paint): string {
  if (last === null) return '-'
  return last.status === 'succeeded' ? paint.good(last.status) : paint.bad(oneLine(last.status))
}

function lastWords(shown: ScheduleShape, paint: Paint): string {
  const { last_result: last } = shown
  if (last === null) return '-'
  const why = last.failure === null ? '' : `  ${last.failure.kind}: ${last.failure.message}`
  return `${lastWord(shown, paint)}  ${oneLine(`${last.ended_at} ${last.invocation_id}${why}`)}`
}

const soFar = ({
  fired,
  skipped,
  missed,
  failures_in_a_row: failures,
  prompts_superseded: superseded,
}: ScheduleShape) =>
  `${fired} fired, ${skipped} skipped, ${missed} missed, ${failures} failures in a row, ${superseded} prompts superseded`

function troubleOf(shown: ScheduleShape | undefined, paint: Paint): string[] {
  if (shown === undefined) return []
  const { paused, faults } = shown
  return [
    ...(paused === null
      ? []
      : [paint.warning(indent(oneLine(`paused since ${paused.at}: ${paused.reason}`)))]),
    ...faults.map((fault) => paint.bad(indent(fault))),
  ]
}

function tickLines({ ticks }: ScheduleWithTicks, paint: Paint): string[] {
  if (ticks.length === 0) return []
  return columns([
    ['TIME', 'BY', 'FATE', 'STATUS', ''].map(paint.faint),
    ...ticks.map(({ tick_at: at, origin, fate, status, reason, invocation_id: id }) => [
      oneLine(at),
      origin,
      fate === 'missed' ? paint.warning(fate) : fate,
      oneLine(status ?? '-'),
      oneLine(id ?? reason ?? ''),
    ]),
  ])
}
