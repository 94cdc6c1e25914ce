import type { Story, Violation } from './check-history.ts'
import type { AttemptHistory, Loss } from './history.ts'
import type { Run } from '../house/open-witness.ts'

// A tool's clock and the database's are the machine's own, so times compare without a margin.

const lostWithinMs = 10_000

type Note = (rule: string, detail: string) => void

/** No attempt begins before the one before it has ended and its sandbox is dead (I5); each starts its tool at most once. */
export function checkAttempts(story: Story, losses: readonly Loss[]): Violation[] {
  const { row, attempts } = story
  const found: Violation[] = []
  const note: Note = (rule, detail) => void found.push({ rule, id: row.id, detail })
  if (attempts.length !== row.attempts || attempts.some(({ attempt }, place) => attempt !== place + 1))
    note(
      'I2',
      `counts ${row.attempts} attempts, and has ${attempts.map(({ attempt }) => attempt).join(', ')}`,
    )
  for (const [place, one] of attempts.entries()) checkOrder(one, attempts[place + 1], note)
  checkStarts(story, note)
  for (const run of story.runs) checkRun(run, story, note)
  for (const one of attempts) checkLoss(one, story.runs, { losses, note })
  return found
}

function checkOrder(one: AttemptHistory, next: AttemptHistory | undefined, note: Note): void {
  if (one.endedAtMs === null) note('I1', `attempt ${one.attempt} has no end`)
  if (next !== undefined && one.endedAtMs !== null && next.claimedAtMs < one.endedAtMs)
    note(
      'I5',
      `attempt ${next.attempt} was claimed ${ms(one.endedAtMs - next.claimedAtMs)} before the one before it ended`,
    )
}

function checkStarts({ row, attempts, runs }: Story, note: Note): void {
  if (runs.length > attempts.length)
    note('I5', `was started ${runs.length} times in ${attempts.length} attempts`)
  for (const { attempt } of attempts) {
    const own = runs.filter((run) => run.attempt === attempt)
    if (own.length > 1) note('I5', `attempt ${attempt} was started ${own.length} times`)
    if (own.some(({ effects }) => effects > 1)) note('I3', `attempt ${attempt} had its effect twice`)
  }
  if (row.rerun) return
  const handedOver = attempts.filter(({ handedOverAtMs }) => handedOverAtMs !== null)
  if (runs.length > 1 || handedOver.length > 1)
    note(
      'rerun',
      `must not run twice, was handed over ${handedOver.length} times and started ${runs.length} times`,
    )
}

function checkRun(run: Run, { row, attempts }: Story, note: Note): void {
  const own = attempts.find(({ attempt }) => attempt === run.attempt)
  const next = attempts.find(({ attempt }) => attempt > run.attempt)
  if (own === undefined) return note('I2', `ran as attempt ${run.attempt}, which there never was`)
  const { attempt, startedAtMs, lastAliveAtMs } = run
  if (startedAtMs < own.claimedAtMs) note('I2', `attempt ${attempt} ran before it was claimed`)
  if (own.handedOverAtMs === null) note('I2', `attempt ${attempt} ran, and was never handed over`)
  if (startedAtMs < row.dueAtMs) note('delay', `ran ${ms(row.dueAtMs - startedAtMs)} before its time`)
  if (next !== undefined && lastAliveAtMs > next.claimedAtMs)
    note(
      'I5',
      `attempt ${attempt} lived ${ms(lastAliveAtMs - next.claimedAtMs)} after attempt ${next.attempt} was claimed`,
    )
  if (own.endedAtMs !== null && lastAliveAtMs > own.endedAtMs)
    note('I5', `attempt ${attempt} lived ${ms(lastAliveAtMs - own.endedAtMs)} after its end`)
}

/** What a killed or stopped worker held is dead within 10 s. One that is cut off has its whole lease, see I5 above. */
function checkLoss(
  { attempt, worker }: AttemptHistory,
  runs: readonly Run[],
  { losses, note }: { losses: readonly Loss[]; note: Note },
): void {
  for (const { kind, atMs } of losses.filter((loss) => loss.worker === worker && loss.kind !== 'cut'))
    for (const run of runs.filter((one) => one.attempt === attempt && one.startedAtMs <= atMs)) {
      const outlivedMs = run.lastAliveAtMs - atMs
      if (outlivedMs > lostWithinMs && kind === 'killed')
        note('I5', `attempt ${attempt} outlived its killed worker by ${ms(outlivedMs)}`)
      if (outlivedMs > lostWithinMs && kind === 'paused')
        note('I5', `attempt ${attempt} outlived its stopped worker by ${ms(outlivedMs)}`)
    }
}

const ms = (value: number) => `${Math.round(value)} ms`
