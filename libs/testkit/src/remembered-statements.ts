import type { Pool } from '@toolyard/db/pool'

export type Statement = {
  text: string
  values: unknown[]
  /** Postgres keeps one plan of it for any values. */
  isPrepared: boolean
}

/** Notes what a pool is asked, so that what really runs can be explained. Before its first connection is made. */
export function rememberStatements(pool: Pool) {
  const asked: Statement[] = []
  pool.on('connect', (client) => {
    const query = client.query.bind(client)
    Object.assign(client, {
      query(...args: Parameters<typeof query>) {
        note(asked, args[0], args[1])
        return query(...args)
      },
    })
  })
  return {
    /** What was asked since the last time, but for the frame of transactions. */
    take: () => asked.splice(0).filter(({ text }) => !/^(?:begin|commit|rollback)$/.test(text)),
  }
}

function note(asked: Statement[], statement: unknown, values: unknown): void {
  if (typeof statement === 'string')
    asked.push({ text: statement, values: Array.isArray(values) ? values : [], isPrepared: false })
  else if (typeof statement === 'object' && statement !== null && 'text' in statement) {
    const given = 'values' in statement && Array.isArray(statement.values) ? statement.values : values
    const isPrepared = 'name' in statement && statement.name !== undefined
    asked.push({ text: String(statement.text), values: Array.isArray(given) ? given : [], isPrepared })
  }
}
