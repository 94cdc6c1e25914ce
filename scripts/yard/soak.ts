import { parseArgs } from 'node:util'
import type { MixedReport } from '@toolyard/sandbox/bench/mixed-runs'
import { runMixed } from '@toolyard/sandbox/bench/mixed-runs'
import { describeSoak, judgeSoak } from '../end-to-end/judge-soak.ts'
import { soakHouse } from '../end-to-end/soak-house.ts'
import { prepareDataDir } from '../services/installation/data-dir.ts'
import { Failure } from '../services/terminal/failure.ts'
import { openTestInstallation } from '../services/installation/installation.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { withEngine } from '../services/engine/with-engine.ts'
import { chosenQueues } from './arguments/chosen-queues.ts'
import { wholeNumber } from './arguments/whole-number.ts'

const minutesMax = 24 * 60
const defaultRuns = 20_000
const runsMax = 10_000_000
// A fresh container costs the engine a fifth of a second, a reused one next to nothing.
const freshShare = 0.05
const concurrency = 4
const growthMaxBytes = 16 * 1_048_576

/**
 * With --minutes the whole path for so long, at four fifths of what it can sustain: fails when anything grows. Else runs
 * of every ending, many of them. Fails when one ended otherwise than it had to, or when anything is left.
 */
export async function soak(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: String(defaultRuns) },
      minutes: { type: 'string' },
      queue: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  if (values.minutes !== undefined) return soakMinutes(values.minutes, values)
  const runs = wholeNumber('--runs', values.runs, { min: 100, max: runsMax })
  const fresh = Math.ceil(runs * freshShare)
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer(process.stderr).show)
  const report = await withEngine(installation, progress, (dockerHost) =>
    progress.step(`${runs} runs of every ending`, () =>
      runMixed({ dockerHost, fresh, reused: runs - fresh, concurrency }),
    ),
  )
  const faults = faultsOf(report)
  console.log(values.json ? JSON.stringify({ ...report, faults }) : summarize(report, faults))
  return faults.length === 0 ? 0 : 1
}

type PathWish = { queue?: string | undefined; json: boolean }

async function soakMinutes(text: string, { queue, json }: PathWish): Promise<number> {
  const minutes = Number(text)
  if (!(minutes >= 0.5 && minutes <= minutesMax))
    throw new Failure(`--minutes must be a number from 0.5 to ${minutesMax}`)
  const chosen = chosenQueues(queue)
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer(process.stderr).show)
  let isGood = true
  const told: object[] = []
  for (const name of chosen) {
    const report = await withEngine(installation, progress, (dockerHost) =>
      soakHouse({ queue: name, dockerHost, minutes, progress }),
    )
    const faults = judgeSoak(report)
    isGood &&= faults.length === 0
    told.push({ ...report, faults })
    if (!json) console.log(describeSoak(report, faults))
  }
  if (json) console.log(JSON.stringify(told))
  return isGood ? 0 : 1
}

function faultsOf({ wrong, left, heldBytes }: MixedReport): string[] {
  const grown = heldBytes.atEnd - heldBytes.atQuarter
  return [
    ...wrong,
    ...Object.entries(left).flatMap(([what, count]) => (count > 0 ? [`${count} ${what} are left`] : [])),
    ...(grown > growthMaxBytes
      ? [`the worker holds ${grown} bytes more than after a quarter of the runs`]
      : []),
  ]
}

function summarize(report: MixedReport, faults: readonly string[]): string {
  const { runs, seconds, endings, heldBytes } = report
  const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`
  return [
    `${runs} runs in ${Math.round(seconds)} s (${(runs / seconds).toFixed(1)}/s)`,
    ...Object.entries(endings).map(([ending, count]) => `  ${ending.padEnd(16)} ${count}`),
    `  held by the worker: ${megabytes(heldBytes.atQuarter)} after a quarter, ${megabytes(heldBytes.atEnd)} at the end`,
    ...(faults.length === 0 ? ['nothing is left, and every run ended as it had to'] : faults),
  ].join('\n')
}
