import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyShape, newKeyShape } from '@toolyard/contract/keys'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { auditPage, bodyOf, keyPage, problemOf, refusalOf } from '../fixtures/answers.ts'
import { stallOnceWarm } from '../fixtures/stall-once-warm.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url, logText, events } = await testApi({ databaseUrl })
const admin = await makeKey(pool)

const postKey = (token: string, body: object) =>
  fetch(`${url}/keys`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('a key is made, shown once, listed, used, revoked and audited', async () => {
  const answer = await postKey(admin.token, { name: 'first', scopes: ['keys:manage'] })
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const made = await bodyOf(answer, newKeyShape.strict())
  assert.equal(answer.headers.get('location'), `/keys/${made.id}`)

  const shown = await fetch(`${url}/keys/${made.id}`, { headers: bearer(made.key) })
  assert.equal(shown.status, 200)
  const text = await shown.text()
  assert.ok(!text.includes(made.key.slice(-64)) && !text.includes('argon2'))
  const list = await bodyOf(await fetch(`${url}/keys?limit=1`, { headers: bearer(admin.token) }), keyPage)
  assert.deepEqual(list, { keys: [JSON.parse(text)], next_cursor: made.id })

  const revoked = await fetch(`${url}/keys/${made.id}`, { method: 'DELETE', headers: bearer(admin.token) })
  const requestId = revoked.headers.get('x-request-id')
  assert.notEqual((await bodyOf(revoked, keyShape.strict())).revoked_at, null)
  const { entries } = await bodyOf(
    await fetch(`${url}/audit?limit=2`, { headers: bearer(admin.token) }),
    auditPage,
  )
  assert.deepEqual(
    entries.map(({ action, actor, target }) => [action, actor, target]),
    [
      ['key.revoke', `key:${admin.id}`, `key:${made.id}`],
      ['key.create', `key:${admin.id}`, `key:${made.id}`],
    ],
  )
  assert.equal(entries[0]?.request_id, requestId)

  const secrets = [made.key.slice(-64), admin.token.slice(-64)]
  await waitUntil('the last event', () => events().some((event) => event['route'] === '/audit'))
  for (const secret of secrets) assert.ok(!logText().includes(secret), 'no secret is logged (I6)')
})

test('a key without the scope is told which one it lacks', async () => {
  const { token } = await makeKey(pool, { scopes: ['tools:read'] })
  for (const [method, path] of [
    ['GET', '/keys'],
    ['POST', '/keys'],
    ['GET', `/keys/${admin.id}`],
    ['DELETE', `/keys/${admin.id}`],
    ['GET', '/audit'],
  ]) {
    const answer = await fetch(`${url}${path}`, { method: method ?? '', headers: bearer(token) })
    const problem = await problemOf(answer)
    assert.equal(`${problem.status} ${problem.code}`, '403 missing_scope', `${method} ${path}`)
    assert.match(problem.detail, /keys:manage/)
  }
})

test('a revoked key is refused within 2 s, also by an api that has it in memory', async () => {
  const proxy = await stallableProxy(databaseUrl)
  const second = await testApi({ databaseUrl: proxy.url })
  const { id, token } = await makeKey(pool, { scopes: ['ops:view'] })
  const ask = (base: string) => fetch(`${base}/metrics`, { headers: bearer(token) })
  assert.equal((await ask(url)).status, 200)
  await stallOnceWarm(proxy, second.url, token)
  proxy.mend()
  const answer = await fetch(`${url}/keys/${id}`, { method: 'DELETE', headers: bearer(admin.token) })
  assert.equal(answer.status, 200)
  const refusal = (base: string) =>
    waitUntil(
      'it is refused',
      async () => {
        const said = await ask(base)
        return said.status === 200 ? undefined : said
      },
      2_000,
    )
  for (const refused of await Promise.all([refusal(url), refusal(second.url)])) {
    assert.equal(await refusalOf(refused), '401 unauthenticated')
  }
})

test('an expired key is refused', async () => {
  const expiresAt = new Date(Date.now() + 700)
  const { token } = await makeKey(pool, { expires_at: expiresAt.toISOString() })
  const ask = () => fetch(`${url}/keys`, { headers: bearer(token) })
  assert.equal((await ask()).status, 200)
  const refused = await waitUntil('it is refused', async () => {
    const answer = await ask()
    return answer.status === 200 ? undefined : answer
  })
  assert.ok(Date.now() >= expiresAt.getTime())
  assert.equal(await refusalOf(refused), '401 unauthenticated')
})

test('a bound key sees, makes and revokes only what is bound within it', async () => {
  const red = await makeKey(pool, { topics: ['red'], tools: ['crow', 'wren'] })
  const within = await makeKey(pool, { topics: ['red'], tools: ['wren'] })
  const others = [
    admin,
    await makeKey(pool, { topics: ['blue'], tools: ['wren'] }),
    await makeKey(pool, { topics: ['red'], tools: ['owl'] }),
    await makeKey(pool, { topics: ['red'] }),
  ]
  const list = await bodyOf(await fetch(`${url}/keys`, { headers: bearer(red.token) }), keyPage)
  assert.deepEqual(
    list.keys.map((key) => key.id),
    [within.id, red.id],
  )
  const nowhere = await problemOf(
    await fetch(`${url}/keys/00000000000000000000000000`, { headers: bearer(red.token) }),
  )
  for (const { id } of others) {
    for (const method of ['GET', 'DELETE']) {
      const problem = await problemOf(
        await fetch(`${url}/keys/${id}`, { method, headers: bearer(red.token) }),
      )
      assert.deepEqual(
        { ...problem, request_id: '' },
        { ...nowhere, request_id: '' },
        'beyond its reach is as if it were not there',
      )
    }
  }
  const { entries } = await bodyOf(await fetch(`${url}/audit`, { headers: bearer(red.token) }), auditPage)
  assert.deepEqual(
    new Set(entries.map((entry) => entry.target)),
    new Set([`key:${red.id}`, `key:${within.id}`]),
  )

  const wider = await problemOf(
    await postKey(red.token, { name: 'wider', scopes: ['keys:manage', 'ops:view'] }),
  )
  assert.equal(`${wider.status} ${wider.code}`, '403 missing_scope')
  assert.deepEqual(
    wider.faults?.map((fault) => fault.pointer),
    ['/scopes/1', '/topics', '/tools'],
  )
  const other = await postKey(red.token, {
    name: 'other',
    scopes: ['keys:manage'],
    topics: ['blue'],
    tools: ['crow'],
  })
  assert.equal(await refusalOf(other), '422 invalid_request')
  const revoked = await fetch(`${url}/keys/${within.id}`, { method: 'DELETE', headers: bearer(red.token) })
  assert.equal(revoked.status, 200)
})

test('pages follow each other without gaps', async () => {
  const seen: string[] = []
  let query = '?limit=2'
  for (;;) {
    const page = await bodyOf(await fetch(`${url}/keys${query}`, { headers: bearer(admin.token) }), keyPage)
    seen.push(...page.keys.map((key) => key.id))
    if (page.next_cursor === null) break
    query = `?limit=2&cursor=${page.next_cursor}`
  }
  const rows = await pool.query<{ id: string }>('select id from api_keys order by id desc')
  assert.deepEqual(
    seen,
    rows.rows.map((row) => row.id),
  )
})
