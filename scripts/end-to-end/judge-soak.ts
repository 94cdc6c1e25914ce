import type { Sample, SoakReport } from './soak-house.ts'

// Between the second quarter and the last: the first is that of processes that have just begun.
const memoryShareMax = 0.05
const bytesPerRowShareMax = 0.1
const queueGrowthMaxBytes = 16 * 1_048_576
// What a second brings may be under way at any moment, and no more.
const openSecondsMax = 2

/** What grew that must not grow, and what failed. Pure. */
export function judgeSoak({ samples, failed, perSecond }: SoakReport): string[] {
  const early = samples.slice(Math.floor(samples.length / 4), Math.floor(samples.length / 2))
  const late = samples.slice(-Math.floor(samples.length / 4))
  const at = (read: (sample: Sample) => number) => ({
    before: medianOf(early.map(read)),
    after: medianOf(late.map(read)),
  })
  const names = Object.keys(samples[0]?.residentBytes ?? {})
  const grown = names.flatMap((name) => {
    const { before, after } = at(({ residentBytes }) => residentBytes[name] ?? Number.NaN)
    const isFlat = Math.abs(after / before - 1) <= memoryShareMax
    return isFlat ? [] : [`${name} holds ${mebibytes(after)} in place of ${mebibytes(before)}`]
  })
  const row = at(({ bytesPerRow }) => bytesPerRow)
  const queue = at(({ queueBytes }) => queueBytes)
  const waiting = at(({ jobs, open }) => Math.max(jobs, open))
  return [
    ...failed,
    ...grown,
    ...(row.after <= row.before * (1 + bytesPerRowShareMax)
      ? []
      : [`a row takes ${row.after} bytes in place of ${row.before}`]),
    ...(queue.after - queue.before <= queueGrowthMaxBytes
      ? []
      : [`the tables of the queue grew from ${mebibytes(queue.before)} to ${mebibytes(queue.after)}`]),
    ...(waiting.after <= perSecond * openSecondsMax
      ? []
      : [`${waiting.after} calls wait, at ${Math.round(perSecond)} a second`]),
  ]
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const mebibytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`

/** For a person. */
export function describeSoak(report: SoakReport, faults: readonly string[]): string {
  const { queue, sustainedPerSecond, perSecond, calls, samples } = report
  const [first, last] = [samples[Math.floor(samples.length / 4)], samples.at(-1)]
  const names = Object.keys(last?.residentBytes ?? {})
  const rate = `${Math.round(perSecond)}/s, of ${Math.round(sustainedPerSecond)}/s that it can sustain`
  return [
    `${calls} calls on ${queue} at ${rate}`,
    ...names.map(
      (name) =>
        `  ${name.padEnd(12)} ${mebibytes(first?.residentBytes[name] ?? 0)} after a quarter, ${mebibytes(last?.residentBytes[name] ?? 0)} at the end`,
    ),
    `  a row takes ${last?.bytesPerRow} bytes, the tables of the queue ${mebibytes(last?.queueBytes ?? 0)}; ${last?.open} calls were open at the end`,
    ...(faults.length === 0 ? ['  nothing grew'] : faults.map((fault) => `  BROKEN ${fault}`)),
  ].join('\n')
}
