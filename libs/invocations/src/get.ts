import type { Actor } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Invocation, InvocationRow } from './invocation.ts'
import { toInvocation } from './invocation.ts'
import { invocationColumns, invocationJoins } from './read-invocations.ts'
import { bindingsOf, isInvocationId, isVisible, notFound } from './visible.ts'

// index: invocations_pkey
const select = prepared(`
  select ${invocationColumns}, outcome.result
  from invocations as one ${invocationJoins}
  where one.id = $1 and ${isVisible('$2', '$3', 'one')}`)

export async function getInvocation(sql: Sql, actor: Actor, id: string): Promise<Invocation> {
  if (!isInvocationId(id)) throw notFound()
  const found = await sql.query<InvocationRow>(select([id, ...bindingsOf(actor)]))
  const row = found.rows[0]
  if (row === undefined) throw notFound()
  return toInvocation(row)
}
