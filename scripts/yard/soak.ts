import { parseArgs } from 'node:util'
import type { MixedReport } from '@toolyard/sandbox/bench/mixed-runs'
import { runMixed } from '@toolyard/sandbox/bench/mixed-runs'
import { prepareDataDir } from '../services/data-dir.ts'
import { Failure } from '../services/failure.ts'
import { openTestInstallation } from '../services/installation.ts'
import { createProgress, createRenderer } from '../services/progress.ts'
import { withEngine } from '../services/with-engine.ts'

const defaultRuns = 20_000
const runsMax = 10_000_000
// A fresh container costs the engine a fifth of a second, a reused one next to nothing.
const freshShare = 0.05
const concurrency = 4
const growthMaxBytes = 16 * 1_048_576

/** Runs of every ending, many of them. Fails when one ended otherwise than it had to, or when anything is left. */
export async function soak(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: String(defaultRuns) },
      json: { type: 'boolean', default: false },
    },
  })
  const runs = readRuns(values.runs)
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

function readRuns(text: string): number {
  const runs = Number(text)
  if (Number.isInteger(runs) && runs >= 100 && runs <= runsMax) return runs
  throw new Failure(`--runs must be a whole number from 100 to ${runsMax}`)
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
