import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import { transaction } from '@toolyard/db/transaction'
import { admitOne } from './admit.ts'
import type { Deps } from './after-commit.ts'
import { leaseSeconds } from './limits.ts'
import type { NoClaim } from './explain-wait.ts'
import { explainWait } from './explain-wait.ts'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

export type Worker = { workerId: string; engineId: string }

/** What proves that an attempt is the current one (I2). */
export type Hold = { id: string; token: string }

export type Attempt = Hold & {
  tool: string
  topic: string
  keyId: string | null
  attempt: number
  /** Of the version that runs. */
  hash: string
  manifest: Manifest
  imageId: string
  /** How to run the image, as the build found it. */
  imageFacts: Json
  params: Record<string, Json>
  telemetry: Record<string, Json>
  leaseUntil: Date
  createdAt: Date
  /** How long it could have run already: from when it might start to now. */
  queueMs: number
}

export type Claim = { kind: 'claimed'; attempt: Attempt } | NoClaim

// I1, I3: one row, one attempt: the condition is judged again by whoever comes second.
// I5: only what is queued can be claimed, and a stale attempt is queued again when its sandbox is dead (limits.ts).
// indexes: primary keys, so `gate` is not compared with 'open': the planner would read all of invocations_open instead.
// No index is written but that of the attempt.
// Its commit does not wait for the disk: nothing is handed over before the next commit, which does, and which then has
// brought this one to the disk too. A crash in between forgets both, and the hold with them.
const claimRow = prepared(`
  with claimed as (
    update invocations as one
    set status = 'running', attempts = one.attempts + 1, attempt_token = gen_random_uuid(),
      lease_until = clock_timestamp() + interval '${leaseSeconds} seconds',
      worker_id = $3, engine_id = $4, ran_hash = version.hash, handed_over_at = null,
      started_at = coalesce(one.started_at, clock_timestamp()),
      rerun = coalesce((version.manifest #>> '{constraints,rerun}')::boolean, true),
      retries_max = coalesce((version.manifest #>> '{constraints,retries}')::integer, 0)
    from tools as tool, tool_versions as version, images as image, switches as switch
    where one.id = $1 and one.attempts = $2 - 1
      and one.status = 'queued' and one.gate not in ('held', 'delayed')
      and one.not_before <= clock_timestamp() and one.expires_at > clock_timestamp()
      and tool.name = one.tool and tool.enabled and tool.removed_at is null
      and switch.name = 'tools_enabled' and switch.is_on
      and version.tool = one.tool and version.hash = coalesce(one.pinned_hash, tool.current_hash)
      and image.hash = version.hash and image.engine_id = $4 and image.state = 'ready'
    returning one.id, one.tool, one.topic, one.key_id, one.attempts, one.attempt_token, one.lease_until,
      one.created_at, one.due_at, version.hash, version.manifest, image.image_id, image.facts
  ),
  noted as (
    insert into attempts (invocation_id, attempt, worker_id, engine_id)
    select id, attempts, $3, $4 from claimed
  )
  select claimed.*, input.params, input.telemetry,
    extract(epoch from clock_timestamp() - claimed.due_at) * 1000 as queue_ms,
    set_config('synchronous_commit', 'off', true) as commit
  from claimed join invocation_inputs as input on input.id = claimed.id`)

type Row = {
  id: string
  tool: string
  topic: string
  key_id: string | null
  attempts: number
  attempt_token: string
  lease_until: Date
  created_at: Date
  hash: string
  manifest: Manifest
  image_id: string
  facts: Json
  params: Record<string, Json>
  telemetry: Record<string, Json>
  queue_ms: string
}

/**
 * Takes an invocation for this worker, or says why not. `attempt` is the one that the job is for, so that a job which
 * was left over from an earlier attempt takes nothing.
 */
export async function claim(
  { pool, afterCommit }: Deps,
  worker: Worker,
  job: { invocationId: string; attempt: number },
): Promise<Claim> {
  const values = [job.invocationId, job.attempt, worker.workerId, worker.engineId]
  const take = async (sql: Sql) => (await sql.query<Row>(claimRow(values))).rows[0]
  let row = await take(pool)
  if (row === undefined) {
    const explained = await explainWait(pool, worker, job)
    if (explained.kind !== 'claimable') return explained
    // Its time has come, or a slot was freed and its admission is under way: it may take a free slot by itself.
    row = await transaction(pool, async (sql) => {
      const isAdmitted = explained.isOpen || (await admitOne(sql, explained.tool, job.invocationId))
      return isAdmitted ? take(sql) : undefined
    })
    if (row === undefined) return explainAgain(await explainWait(pool, worker, job))
  }
  afterCommit.run({ started: [row.id] })
  return { kind: 'claimed', attempt: toAttempt(row) }
}

function explainAgain(explained: Awaited<ReturnType<typeof explainWait>>): NoClaim {
  if (explained.kind !== 'claimable') return explained
  // What was in its way is gone by now: it must not leave the queue for that.
  if (explained.isOpen) return { kind: 'waiting', reason: 'tools_disabled', againMs: 100 }
  // Whoever frees a slot puts it back in the queue.
  return { kind: 'waiting', reason: 'concurrency limit' }
}

function toAttempt(row: Row): Attempt {
  return {
    id: row.id,
    token: row.attempt_token,
    tool: row.tool,
    topic: row.topic,
    keyId: row.key_id,
    attempt: row.attempts,
    hash: row.hash,
    manifest: row.manifest,
    imageId: row.image_id,
    imageFacts: row.facts,
    params: row.params,
    telemetry: row.telemetry,
    leaseUntil: row.lease_until,
    createdAt: row.created_at,
    queueMs: Math.max(0, Number(row.queue_ms)),
  }
}
