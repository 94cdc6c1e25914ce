import { AppError } from '@toolyard/contract/errors'
import type { Deps } from '@toolyard/invocations/after-commit'
import { cancel } from '@toolyard/invocations/cancel'
import type { Within } from '@toolyard/invocations/close-rows'

// indexes: ticks_overtaken, invocations_pkey. What was asked for already is left to who runs it.
const select = `
  select ticks.invocation_id from ticks
  join invocations on invocations.id = ticks.invocation_id
  where ticks.is_overtaken and ticks.ended_at is null and ($1::text[] is null or ticks.tool = any($1))
    and invocations.gate <> 'closed' and invocations.cancel_requested_at is null
  order by ticks.invocation_id limit 1000`

/**
 * Ends the runs that newer ones take the place of. After the commit that says which, since whoever has a schedule must
 * not wait for an invocation; where a process dies in between, the next turn finds the same rows.
 */
export async function cancelOvertaken(
  deps: Deps & { within: Within | undefined },
  tools: readonly string[] | null = null,
): Promise<number> {
  const { rows } = await deps.pool.query<{ invocation_id: string }>(select, [tools])
  for (const { invocation_id: id } of rows) {
    await cancel(deps, { kind: 'operator' }, { id, within: deps.within }).catch((error: unknown) => {
      // Pruned since it was found, and so long over.
      if (!(error instanceof AppError)) throw error
    })
  }
  return rows.length
}
