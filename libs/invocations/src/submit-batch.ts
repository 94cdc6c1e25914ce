import { newPrefixedId } from '@toolyard/contract/ids'
import type { Pool, Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { prepared } from '@toolyard/db/prepared'
import type { ReadyJob } from './after-commit.ts'
import { hasHeld, limitOfTool, lockTools, openHeld } from './admit.ts'
import type { ToolFacts } from './decide-submissions.ts'
import { createDecider } from './decide-submissions.ts'
import type { Reservation } from './idempotency.ts'
import { forgetKeys, reserveKeys } from './idempotency.ts'
import { insertInvocations } from './insert-invocations.ts'
import type { Invocation } from './invocation.ts'
import type { QueueDepth } from './queue-depth.ts'
import { readBudgets } from './read-budgets.ts'
import { findInvocations } from './read-invocations.ts'
import type { CheckedSubmission, Submission, SubmitRefusal, Submitted } from './submission.ts'

export type SubmittedBatch = {
  /** In the order of the submissions. */
  answers: Submitted[]
  /** For the queue, once this is committed. */
  jobs: ReadyJob[]
}

const readFacts = prepared(`
  select tools.name, tools.enabled, tools.removed_at is not null as removed,
    version.hash, version.version,
    tools.current_hash is null
      and exists (select from images where hash = tools.wanted_hash and state = 'error')
      and not exists (select from images where hash = tools.wanted_hash and state <> 'error') as image_failed,
    coalesce((select is_on from switches where name = 'tools_enabled'), false) as tools_enabled,
    (version.manifest #>> '{constraints,cost_budget}')::double precision as cost_budget,
    (${limitOfTool}
      - (select count(*) from invocations where tool = tools.name and gate = 'open'))::integer as free,
    ${hasHeld('tools.name')} as has_held
  from tools
  left join tool_versions as version
    on version.tool = tools.name and version.hash = coalesce(tools.current_hash, tools.wanted_hash)
  where tools.name = any($1)`)

/**
 * Accepts or refuses each of these in one transaction. No two may have the same idempotency key. Nothing is announced
 * here: a NOTIFY would make commits of all callers wait for each other.
 */
export async function submitBatch(
  pool: Pool,
  depth: QueueDepth,
  submissions: readonly CheckedSubmission[],
): Promise<SubmittedBatch> {
  await depth.refresh()
  const reservesKeys = submissions.some(({ idempotency }) => idempotency !== undefined)
  const batch = await transaction(pool, (sql) => submitWithin(sql, depth, submissions), {
    opensHarmlessly: !reservesKeys,
  })
  batch.answers.forEach((answer) => {
    if (answer.kind === 'accepted' && !answer.replayed) depth.add(answer.invocation.tool)
  })
  return batch
}

/** The same within a transaction of somebody else's, who enqueues the jobs after its commit and tells `depth` of them. */
export async function submitWithin(
  sql: Sql,
  depth: QueueDepth,
  submissions: readonly CheckedSubmission[],
): Promise<SubmittedBatch> {
  const candidates = submissions.map((submission) => ({ id: newPrefixedId('inv'), submission }))
  const reserved = await reserveKeys(sql, candidates)
  const isNew = ({ id }: { id: string }) => !reserved.has(id)
  const facts = await lockAndReadFacts(sql, candidates.filter(isNew))
  const decide = createDecider({ facts, budgets: await readBudgets(sql, limitsOf(facts)), depth })
  const refusals = new Map<string, SubmitRefusal>()
  for (const { id, submission } of candidates.filter(isNew)) {
    const refusal = decide(submission)
    if (refusal !== undefined) refusals.set(id, refusal)
  }
  // Refused requests are not remembered: the same key may come again when there is room.
  await forgetKeys(
    sql,
    candidates.filter(({ id }) => refusals.has(id)),
  )
  const accepted = candidates.filter((one) => isNew(one) && !refusals.has(one.id))
  const inserted = await insertInvocations(sql, facts, accepted)
  const tools = new Set(accepted.map(({ submission }) => submission.tool))
  const crowded = [...tools].filter((tool) => facts.get(tool)?.has_held === true)
  const admitted = crowded.length === 0 ? [] : await openHeld(sql, crowded)
  const bound = accepted.filter(({ submission }) => submission.pinnedHash !== undefined)
  const read = await readBack(sql, [...replayedIds(reserved), ...bound.map(({ id }) => id)])
  const invocations = new Map([...inserted.invocations, ...read])
  const answers = candidates.map(({ id }) => toAnswer(invocations, id, reserved.get(id), refusals.get(id)))
  return { answers, jobs: [...inserted.jobs, ...admitted] }
}

function toAnswer(
  invocations: ReadonlyMap<string, Invocation>,
  id: string,
  reservation: Reservation | undefined,
  refusal: SubmitRefusal | undefined,
): Submitted {
  if (refusal !== undefined) return { kind: 'refused', ...refusal }
  if (reservation?.isSameBody === false) return { kind: 'refused', code: 'idempotency_mismatch' }
  const invocation = invocations.get(reservation?.invocationId ?? id)
  // A row is kept far longer than its key, so only a hand in the database can have taken it away.
  if (invocation === undefined) throw new Error('the invocation of an idempotency key is gone')
  return { kind: 'accepted', invocation, replayed: reservation !== undefined }
}

async function lockAndReadFacts(
  sql: Sql,
  candidates: readonly { submission: Submission }[],
): Promise<Map<string, ToolFacts>> {
  if (candidates.length === 0) return new Map()
  const tools = new Set(candidates.map(({ submission }) => submission.tool))
  const [, found] = await Promise.all([lockTools(sql, tools), sql.query<ToolFacts>(readFacts([[...tools]]))])
  return new Map(found.rows.map((row) => [row.name, row]))
}

/** Those that have a budget; of the others nothing is asked. */
function limitsOf(facts: ReadonlyMap<string, ToolFacts>): Map<string, number> {
  return new Map(
    [...facts.values()].flatMap(({ name, cost_budget: limit }) => (limit === null ? [] : [[name, limit]])),
  )
}

const replayedIds = (reserved: ReadonlyMap<string, Reservation>) =>
  [...reserved.values()].filter((one) => one.isSameBody).map((one) => one.invocationId)

async function readBack(sql: Sql, ids: readonly string[]): Promise<Map<string, Invocation>> {
  const found = ids.length === 0 ? [] : await findInvocations(sql, ids)
  return new Map(found.map((invocation) => [invocation.id, invocation]))
}
