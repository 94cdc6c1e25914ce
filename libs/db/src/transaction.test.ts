import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Pool, Sql } from './pool.ts'
import { createPool } from './pool.ts'
import { transaction } from './transaction.ts'

const database = await emptyDatabase()
const proxy = await stallableProxy(database.url)
await database.pool.query('create table notes (text text primary key)')

function openPool(t: TestContext, answerTimeoutMs = 10_000): Pool {
  const onIdleError = () => assert.fail('a connection broke while it was idle')
  const pool = createPool({
    url: proxy.url,
    max: 1,
    applicationName: 'transaction-test',
    answerTimeoutMs,
    onIdleError,
  })
  t.after(() => pool.end())
  t.after(() => proxy.mend())
  return pool
}

const write = (sql: Sql, text: string) => sql.query('insert into notes values ($1)', [text])

async function has(text: string): Promise<boolean> {
  const found = await database.pool.query('select 1 from notes where text = $1', [text])
  return found.rowCount === 1
}

async function assertUsable(pool: Pool): Promise<void> {
  proxy.mend()
  assert.equal(await transaction(pool, async (sql) => (await sql.query('select 1')).rowCount), 1)
  assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [1, 1, 0])
}

test('what returns is committed, and its value is given back', async (t) => {
  const pool = openPool(t)
  const value = await transaction(pool, async (sql) => {
    await write(sql, 'kept')
    assert.equal(await has('kept'), false)
    return 7
  })
  assert.equal(value, 7)
  assert.equal(await has('kept'), true)
})

test('what throws is rolled back, and the connection is used again', async (t) => {
  const pool = openPool(t)
  const backend = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid
  const before = await backend()
  const refusal = new Error('refused')
  await assert.rejects(
    transaction(pool, async (sql) => {
      await write(sql, 'dropped')
      throw refusal
    }),
    (error) => error === refusal,
  )
  await assert.rejects(
    transaction(pool, async (sql) => {
      await write(sql, 'dropped')
      await write(sql, 'dropped')
    }),
    { code: '23505' },
  )
  assert.equal(await has('dropped'), false)
  assert.equal(await backend(), before)
})

test('a commit that the server refuses is a rejection', async (t) => {
  const pool = openPool(t)
  await pool.query(
    'create table pairs (id integer primary key, other integer references pairs deferrable initially deferred)',
  )
  await assert.rejects(
    transaction(pool, (sql) => sql.query('insert into pairs values (1, 2)')),
    { code: '23503' },
  )
  await assertUsable(pool)
})

test('work that hides the failure of a statement is not taken for committed', async (t) => {
  const pool = openPool(t)
  await assert.rejects(
    transaction(pool, async (sql) => {
      await write(sql, 'hidden')
      await sql.query('select 1/0').catch(() => {})
      return 'fine'
    }),
    /was rolled back/,
  )
  assert.equal(await has('hidden'), false)
  await assertUsable(pool)
})

test('a savepoint lets work go on after a failed statement', async (t) => {
  const pool = openPool(t)
  await transaction(pool, async (sql) => {
    await write(sql, 'saved')
    await sql.query('savepoint before')
    await assert.rejects(write(sql, 'saved'), { code: '23505' })
    await sql.query('rollback to before')
  })
  assert.equal(await has('saved'), true)
})

test('a connection that is cut between two statements: the break is the rejection', async (t) => {
  const pool = openPool(t)
  const lost = transaction(pool, async (sql) => {
    await write(sql, 'cut')
    proxy.cut()
    await waitUntil('the break', () =>
      sql.query('select 1').then(
        () => false,
        () => true,
      ),
    )
    await sql.query('select 2')
  })
  await assert.rejects(lost, /ECONNRESET|terminated/)
  await assertUsable(pool)
  assert.equal(await has('cut'), false)
})

test('a connection that is cut while the work waits for something else does not end the process', async (t) => {
  const pool = openPool(t)
  const lost = transaction(pool, async (sql) => {
    const found = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
    proxy.cut()
    await waitUntil('the server to notice', async () => {
      const open = await database.pool.query('select 1 from pg_stat_activity where pid = $1', [
        found.rows[0]?.pid,
      ])
      return open.rowCount === 0
    })
  })
  await assert.rejects(lost, /ECONNRESET|terminated/)
  await assertUsable(pool)
})

test('a connection that is cut under a running statement rejects it at once', async (t) => {
  const pool = openPool(t)
  const lost = transaction(pool, async (sql) => {
    const running = sql.query('select pg_sleep(60)')
    proxy.cut()
    await running
  })
  await assert.rejects(lost, /ECONNRESET|terminated/)
  await assertUsable(pool)
})

test('a backend that the operator ends rejects the transaction only', async (t) => {
  const pool = openPool(t)
  const lost = transaction(pool, async (sql) => {
    const found = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
    await database.pool.query('select pg_terminate_backend($1)', [found.rows[0]?.pid])
    // sleeps because its backend is to end while it runs
    await sql.query('select pg_sleep(60)')
  })
  await assert.rejects(lost, /terminat/)
  await assertUsable(pool)
})

test('a statement that is never answered ends the transaction after one wait', async (t) => {
  const answerTimeoutMs = 1_000
  const pool = openPool(t, answerTimeoutMs)
  await pool.query('select 1')
  const started = performance.now()
  const lost = transaction(pool, async (sql) => {
    await write(sql, 'stalled')
    proxy.stall()
    await sql.query('select 1')
  })
  await assert.rejects(lost, /timeout/)
  assert.ok(performance.now() - started < 2 * answerTimeoutMs, 'waited for the rollback too')
  assert.equal(pool.totalCount, 0)
  await assertUsable(pool)
  assert.equal(await has('stalled'), false)
})

test('a transaction that cannot even begin gives no connection back', async (t) => {
  const pool = openPool(t, 500)
  await pool.query('select 1')
  proxy.stall()
  await assert.rejects(
    transaction(pool, async () => assert.fail('began')),
    /timeout/,
  )
  assert.equal(pool.totalCount, 0)
  await assertUsable(pool)
})

test('work that hides the silence of the server is not committed', async (t) => {
  const pool = openPool(t, 500)
  const lost = transaction(pool, async (sql) => {
    await write(sql, 'hushed')
    proxy.stall()
    await sql.query('select 1').catch(() => {})
    proxy.mend()
  })
  await assert.rejects(lost, /timeout/)
  await assertUsable(pool)
  assert.equal(await has('hushed'), false)
})

test('a rollback that fails leaves the reason of the failure and destroys the connection', async (t) => {
  const pool = openPool(t, 500)
  const refusal = new Error('refused')
  const lost = transaction(pool, async (sql) => {
    await write(sql, 'undone')
    proxy.stall()
    throw refusal
  })
  await assert.rejects(lost, (error) => error === refusal)
  assert.equal(pool.totalCount, 0)
  await assertUsable(pool)
  assert.equal(await has('undone'), false)
})

test('a value that cannot be sent fails its transaction, not the next one', async (t) => {
  const pool = openPool(t)
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  await assert.rejects(
    transaction(pool, (sql) => sql.query('select $1::jsonb', [circle])),
    /circular/,
  )
  await assertUsable(pool)
})

test('a statement after the end of its transaction is refused', async (t) => {
  const pool = openPool(t)
  const ended = await transaction(pool, async (sql) => sql)
  await assert.rejects(write(ended, 'late'), /has ended/)
  assert.equal(await has('late'), false)
})

test('what is asked at once is answered in order, each as of its own time, by one connection', async (t) => {
  const pool = openPool(t)
  const counts = await transaction(pool, async (sql) => {
    const count = () => sql.query<{ count: number }>('select count(*)::integer from notes')
    const [before, , after] = await Promise.all([count(), write(sql, 'at once'), count()])
    return [before, after].map(({ rows }) => rows[0]?.count ?? Number.NaN)
  })
  const [before = Number.NaN, after] = counts
  assert.equal(after, before + 1)
  assert.ok(await has('at once'))
})

test('work that goes on after a part of it has failed writes nothing', async (t) => {
  const pool = openPool(t)
  const answers: unknown[] = []
  const goOn = async (sql: Sql) => {
    await write(sql, 'first of two').catch(() => {})
    await write(sql, 'second of two').catch((error: unknown) => void answers.push(error))
  }
  await assert.rejects(
    transaction(pool, (sql) => Promise.all([sql.query('select 1 / 0'), goOn(sql)])),
    /division by zero/,
  )
  await waitUntil('the rest to be refused', () => answers.length === 1)
  assert.deepEqual([await has('first of two'), await has('second of two')], [false, false])
  await assertUsable(pool)
})

test('what opens harmlessly goes with the begin, and nothing follows it when that is refused', async (t) => {
  const pool = openPool(t)
  const seen = await transaction(
    pool,
    async (sql) => {
      const first = await sql.query<{ text: string }>(
        "select count(*)::text as text from notes where text = 'mine'",
      )
      await write(sql, 'mine')
      return [first.rows[0]?.text, await has('mine')]
    },
    { opensHarmlessly: true },
  )
  assert.deepEqual([...seen, await has('mine')], ['0', false, true])
})

test('nothing follows a begin that is refused', async (t) => {
  const url = await misspell(t, 'begin', 'bogus')
  const pool = createPool({ url, max: 1, applicationName: 'transaction-test', onIdleError: () => {} })
  t.after(() => pool.end())
  for (const opensHarmlessly of [false, true]) {
    const answers: unknown[] = []
    const goOn = async (sql: Sql) => {
      await sql.query('select 1')
      await write(sql, 'outside').catch((error: unknown) => void answers.push(error))
    }
    await assert.rejects(transaction(pool, goOn, { opensHarmlessly }), /syntax error at or near "bogus"/)
    if (opensHarmlessly) await waitUntil('the rest to be refused', () => answers.length === 1)
    assert.equal(await has('outside'), false)
    assert.equal(pool.totalCount, 0)
  }
})

/** The database's URL through a server that gives it another word of the same length. */
async function misspell(t: TestContext, word: string, other: string): Promise<string> {
  const { hostname, port } = new URL(database.url)
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.on('data', (chunk) => {
      far.write(Buffer.from(chunk.toString('latin1').replaceAll(`${word}\0`, `${other}\0`), 'latin1'))
    })
    far.pipe(near)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('close', () => far.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const target = new URL(database.url)
  target.port = String(address.port)
  target.searchParams.delete('host')
  return target.href
}
