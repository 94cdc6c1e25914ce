import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Invocation, InvocationRow } from '@toolyard/invocations/invocation'
import { toInvocation } from '@toolyard/invocations/invocation'
import { invocationColumns, invocationJoins } from '@toolyard/invocations/read-invocations'
import { idsIn } from './ids-in.ts'
import type { Look } from './look.ts'
import { eventMessage, invocationMessage } from './message.ts'

// index: invocations_pkey
const select = prepared(`
  select ${invocationColumns}, outcome.result
  from invocations as one ${invocationJoins}
  where one.id = ${idsIn('$1')}`)

/** What is to be said in each; null where what it tells of is there no more. */
export async function readBodies(sql: Sql, looks: readonly Look[]): Promise<(Buffer | null)[]> {
  const ids = new Set(looks.flatMap(({ invocation_id: id }) => id ?? []))
  const { rows } =
    ids.size === 0 ? { rows: [] } : await sql.query<InvocationRow>(select([JSON.stringify([...ids])]))
  const invocations = new Map(rows.map((row) => [row.id, toInvocation(row)]))
  return looks.map((look) => bodyOf(look, invocations))
}

function bodyOf(look: Look, invocations: ReadonlyMap<string, Invocation>): Buffer | null {
  const subject = { event: look.event, createdAt: look.created_at }
  const { tool, topic, data, invocation_id: id } = look
  if (data !== null) return eventMessage(subject, { tool, topic, data })
  const invocation = id === null ? undefined : invocations.get(id)
  return invocation === undefined ? null : invocationMessage(subject, invocation)
}
