import type { CheckReport, RunReport } from './check-report.ts'
import type { Paint } from '../text/paint.ts'
import { indent, oneLine } from '../text/terminal-text.ts'

/** The report for a person: what was tried, how it went, and what could be better. */
export function checkLines(report: CheckReport, paint: Paint): string[] {
  const { tool, faults, build, run, hints, ok } = report
  return [
    `${paint.strong(oneLine(tool))}  ${paint.faint(oneLine(report.dir))}`,
    ...(faults.length === 0 ? [good('manifest', '', paint)] : [bad('manifest', paint), ...faults.map(inset)]),
    ...(build === undefined ? [] : buildLines(build, paint)),
    ...(run === undefined ? [] : runLines(report, run, paint)),
    ...(hints.length === 0
      ? []
      : [paint.warning('Could be better'), ...hints.map((hint) => `  - ${oneLine(hint)}`)]),
    ok ? paint.good('It works.') : paint.bad('It does not work yet.'),
  ]
}

const inset = (text: string) => indent(text, '    ')
const good = (what: string, said: string, paint: Paint) =>
  `${paint.good('✓')} ${what}${said === '' ? '' : `  ${said}`}`
const bad = (what: string, paint: Paint) => `${paint.bad('✗')} ${what}`

function buildLines(build: NonNullable<CheckReport['build']>, paint: Paint): string[] {
  if ('error' in build) return [bad(`build  after ${seconds(build.ms)}`, paint), inset(build.error)]
  return [good('build', `${seconds(build.ms)}, an image of ${size(build.image_bytes)}`, paint)]
}

function runLines({ params }: CheckReport, run: RunReport, paint: Paint): string[] {
  const { failure, output, changes = [], stderr_tail: stderr, llm_context: context } = run
  const measured = measuredOf(run)
  return [
    failure === undefined ? good('run', measured, paint) : `${bad('run', paint)}  ${measured}`,
    ...(failure === undefined ? [] : [inset(`${failure.kind}: ${failure.message}`)]),
    ...block('with params', JSON.stringify(params), paint),
    ...(output === undefined ? [] : block('output', JSON.stringify(output, undefined, 2), paint)),
    ...(context === undefined ? [] : block('what the model is told', context, paint)),
    ...(changes.length === 0 ? [] : block('sanitising changed', changes.join('\n'), paint)),
    ...(stderr === undefined ? [] : block('end of stderr', stderr, paint)),
  ]
}

const block = (title: string, text: string, paint: Paint) => [paint.faint(`  ${title}`), inset(text)]

function measuredOf(run: RunReport): string {
  const { start_ms: startMs, ms, timeout_ms: timeoutMs, memory_bytes: memory, memory_peak_bytes: peak } = run
  const measured = [
    `${milliseconds(ms)} of ${seconds(timeoutMs)}`,
    ...(peak === undefined ? [] : [`${size(peak)} of ${size(memory)} memory`]),
    ...(run.exit_code === undefined ? [] : [run.signal ?? `exit code ${run.exit_code}`]),
  ]
  return `${measured.join(', ')} (its sandbox took ${milliseconds(startMs)} to start, before that)`
}

const milliseconds = (ms: number) => `${Math.round(ms)} ms`
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const size = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`
