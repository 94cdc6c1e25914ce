import { AppError } from '@toolyard/contract/errors'
import type { Deps } from './after-commit.ts'
import { createFlights } from './flights.ts'
import { createQueueDepth } from './queue-depth.ts'
import type { CheckedSubmission, Submission, Submitted } from './submission.ts'
import { checkSubmission } from './submission.ts'
import { submitBatch } from './submit-batch.ts'

export type Submitter = {
  /**
   * Resolves when the row is committed; its job is then on its way to the queue, and if it gets lost the relay brings
   * it there. A submission that could not be stored is an `AppError`.
   */
  submit: (submission: Submission) => Promise<Submitted>
}

const flightsMax = 4
const batchMax = 500
const waitingMax = 5_000
// Data that Postgres refuses, constraints, and more than it can index.
const itemFault = /^(?:22|23|54)/

/** One per process: submissions that arrive together become one transaction. */
export function createSubmitter({ pool, afterCommit }: Deps): Submitter {
  const depth = createQueueDepth(pool)

  async function send(submissions: readonly CheckedSubmission[]): Promise<Submitted[]> {
    const leaderOf = findLeaders(submissions)
    const leaders = [...new Set(leaderOf)]
    const batch = await submitBatch(
      pool,
      depth,
      leaders.flatMap((place) => submissions[place] ?? []),
    )
    afterCommit.run({ jobs: batch.jobs })
    const answers = new Map(leaders.map((place, index) => [place, batch.answers[index]]))
    return Promise.all(
      submissions.map(async (submission, place) => {
        const leader = leaderOf[place] ?? place
        const answer = answers.get(leader)
        if (answer === undefined) throw new Error('a batch was answered in part')
        if (leader === place) return answer
        return repeatAnswer(answer, submissions[leader], submission) ?? sendAlone(submission)
      }),
    )
  }

  async function sendAlone(submission: CheckedSubmission): Promise<Submitted> {
    const [answer] = await send([submission])
    if (answer === undefined) throw new Error('a batch was answered in part')
    return answer
  }

  const join = createFlights<CheckedSubmission, Submitted>({
    laneOf: ({ tool }) => tool,
    send,
    isItemFault,
    flightsMax,
    itemsMax: batchMax,
    waiting: {
      max: waitingMax,
      onFull: () =>
        new AppError('rate_limited', 'Too many calls wait to be stored', { retryAfterSeconds: 1 }),
    },
  })

  return {
    async submit(submission) {
      return join(checkSubmission(submission))
    },
  }
}

/** For each its place, or that of the first one with the same idempotency key: one row, however many ask for it. */
function findLeaders(submissions: readonly Submission[]): number[] {
  const places = new Map<string, number>()
  return submissions.map(({ idempotency, keyId }, place) => {
    if (idempotency === undefined) return place
    const name = JSON.stringify([keyId, idempotency.key])
    const leader = places.get(name) ?? place
    places.set(name, leader)
    return leader
  })
}

/** Undefined: what was refused is not remembered, so this one has to be asked for itself. */
function repeatAnswer(
  answer: Submitted,
  leader: Submission | undefined,
  follower: Submission,
): Submitted | undefined {
  const [theirs, ours] = [leader?.idempotency?.bodyHash, follower.idempotency?.bodyHash]
  const isSame = theirs !== undefined && ours !== undefined && theirs.equals(ours)
  if (answer.kind === 'refused') return isSame ? answer : undefined
  return isSame ? { ...answer, replayed: true } : { kind: 'refused', code: 'idempotency_mismatch' }
}

function isItemFault(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return typeof error.code === 'string' && itemFault.test(error.code)
}
