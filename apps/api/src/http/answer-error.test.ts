import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { freePort } from '@toolyard/service/free-port'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { problemOf } from '../fixtures/answers.ts'
import { bareApi, unconnected } from '../fixtures/bare-api.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url, events, logText } = await testApi({ databaseUrl })
const { token } = await makeKey(pool)

test('a fault of ours is told by a fixed text, and its cause is in the log with secrets cut', async () => {
  // A real fault of the database that nobody foresaw, whose text holds what must not be shown.
  await pool.query(`
    create function break_down() returns trigger language plpgsql as $$
    begin raise exception 'the vault is broken: Bearer hunter2, ${token}, postgres://user:hunter2@host/db'; end $$`)
  await pool.query('create trigger break_down before insert on api_keys execute function break_down()')
  const answer = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'x', scopes: ['keys:manage'] }),
  })
  const problem = await problemOf(answer)
  assert.deepEqual(problem, {
    type: 'about:blank',
    title: 'Something broke on our side',
    status: 500,
    detail: 'The fault is recorded under the request id',
    code: 'internal',
    request_id: problem.request_id,
  })
  const event = await waitUntil('the event', () =>
    events().find((one) => one['request_id'] === problem.request_id),
  )
  assert.equal(event['level'], 'error')
  const logged = JSON.stringify(event)
  assert.match(logged, /the vault is broken: Bearer \*\*\*/)
  assert.match(logged, /P0001/)
  assert.doesNotMatch(logText(), new RegExp(`hunter2|${token.slice(-64)}`))
})

test('after it the next request is served', async () => {
  assert.equal((await fetch(`${url}/keys`, { headers: bearer(token) })).status, 200)
})

test('what is thrown but is no Error is answered, recorded and given its headers like one', async () => {
  const { api, lines, close } = bareApi(pool)
  after(close)
  // What Node's adapter gives as the reason when a client leaves is a text.
  api.get('/aborts', () => AbortSignal.abort('gone: Bearer hunter2').throwIfAborted() ?? new Response())
  const { incoming, outgoing } = unconnected()
  const answer = await api.fetch(new Request('http://localhost/aborts'), { incoming, outgoing })
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.equal((await problemOf(answer)).code, 'internal')
  assert.match(lines.join(), /"status":500.*gone: Bearer \*\*\*|gone: Bearer \*\*\*.*"status":500/)
})

test('another service or a file that is away is not told as the database', async () => {
  const { api, close } = bareApi(pool)
  after(close)
  const port = await freePort()
  api.get('/file', async () => new Response(await readFile('/nonexistent')))
  api.get('/service', () => fetch(`http://127.0.0.1:${port}`))
  for (const path of ['/file', '/service']) {
    const { incoming, outgoing } = unconnected()
    const answer = await api.fetch(new Request(`http://localhost${path}`), { incoming, outgoing })
    assert.equal((await problemOf(answer)).code, 'internal', path)
  }
})
