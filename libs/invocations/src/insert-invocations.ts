import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ReadyJob } from './after-commit.ts'
import type { Gate, ToolFacts } from './decide-submissions.ts'
import { chooseGates } from './decide-submissions.ts'
import type { Invocation } from './invocation.ts'
import { priorityDefault, ttlDefaultMs } from '@toolyard/contract/call-limits'
import type { CheckedSubmission } from './submission.ts'

export type Inserted = { invocations: Map<string, Invocation>; jobs: ReadyJob[] }

type Candidate = { id: string; submission: CheckedSubmission }

const insert = prepared(`
  with wanted as materialized (
    select wanted.*, clock.now, clock.now + wanted.delay_ms * interval '1 ms' as due_at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::bigint[],
      $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[])
      as wanted (id, tool, topic, key_id, gate, priority, delay_ms, ttl_ms,
        submitted_hash, pinned_hash, search_id, replay_of, params, telemetry, metadata, callback_url)
    cross join (select clock_timestamp() as now) as clock
  ),
  inputs as (
    insert into invocation_inputs (id, params, telemetry, metadata, callback_url)
    select id, params::json, telemetry::json, metadata::json, callback_url from wanted
  )
  insert into invocations (id, tool, topic, key_id, status, gate, priority, created_at, due_at, not_before, expires_at,
    submitted_hash, pinned_hash, search_id, replay_of)
  select id, tool, topic, key_id, 'queued', gate, priority, now, due_at, due_at, due_at + ttl_ms * interval '1 ms',
    submitted_hash, pinned_hash, search_id, replay_of
  from wanted
  returning id, created_at, due_at, expires_at`)

type Row = { id: string; created_at: Date; due_at: Date; expires_at: Date }

/** Writes the rows of what was accepted. Within a transaction that holds the locks of their tools. */
export async function insertInvocations(
  sql: Sql,
  facts: ReadonlyMap<string, ToolFacts>,
  candidates: readonly Candidate[],
): Promise<Inserted> {
  if (candidates.length === 0) return { invocations: new Map(), jobs: [] }
  const gates = chooseGates(facts, candidates)
  const rows = candidates.map((candidate) => ({
    ...candidate,
    gate: gates.get(candidate.id) ?? 'held',
    facts: facts.get(candidate.submission.tool),
  }))
  const inserted = await sql.query<Row>(insert(toColumns(rows)))
  const written = new Map(inserted.rows.map((row) => [row.id, row]))
  const invocations = rows.flatMap((row) => {
    const times = written.get(row.id)
    return times === undefined ? [] : [[row.id, describe(row, times)] as const]
  })
  return { invocations: new Map(invocations), jobs: rows.flatMap(jobsOf) }
}

type NewRow = Candidate & { gate: Gate; facts: ToolFacts | undefined }

function toColumns(rows: readonly NewRow[]): unknown[] {
  const all = <T>(read: (submission: CheckedSubmission) => T) =>
    rows.map(({ submission }) => read(submission))
  return [
    rows.map(({ id }) => id),
    all(({ tool }) => tool),
    all(({ topic }) => topic),
    all(({ keyId }) => keyId),
    rows.map(({ gate }) => gate),
    all(({ priority = priorityDefault }) => priority),
    all(({ delayMs = 0 }) => delayMs),
    all(({ ttlMs = ttlDefaultMs }) => ttlMs),
    rows.map(({ facts }) => facts?.hash),
    all(({ pinnedHash }) => pinnedHash),
    all(({ searchId }) => searchId),
    all(({ replayOf }) => replayOf),
    all(({ json }) => json.params),
    all(({ json }) => json.telemetry),
    all(({ json }) => json.metadata),
    all(({ callbackUrl }) => callbackUrl),
  ]
}

function jobsOf({ id, gate, submission }: NewRow): ReadyJob[] {
  const { priority = priorityDefault, delayMs = 0 } = submission
  if (gate === 'held') return []
  return [gate === 'open' ? { id, attempt: 1, priority } : { id, attempt: 1, priority, delayMs }]
}

/** What reading the row would give, without reading it. */
function describe({ id, gate, facts, submission }: NewRow, times: Row): Invocation {
  return {
    id,
    tool: submission.tool,
    toolVersion: facts?.version ?? null,
    imageHash: submission.pinnedHash ?? facts?.hash ?? '',
    topic: submission.topic,
    keyId: submission.keyId,
    status: 'queued',
    waitingFor: gate === 'open' ? null : gate === 'held' ? 'concurrency limit' : 'delayed',
    cancelRequested: false,
    priority: submission.priority ?? priorityDefault,
    attempts: 0,
    createdAt: times.created_at,
    dueAt: times.due_at,
    expiresAt: times.expires_at,
    startedAt: null,
    finishedAt: null,
    result: null,
    failure: null,
    reward: null,
    feedback: null,
    searchId: submission.searchId ?? null,
    replayOf: submission.replayOf ?? null,
    metadata: submission.metadata ?? {},
  }
}
