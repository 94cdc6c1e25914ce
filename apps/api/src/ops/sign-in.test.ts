import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revokeKey } from '@toolyard/access/revoke-key'
import { openVault } from '@toolyard/vault/open-vault'
import { testDatabase } from '@toolyard/testkit/database'
import { refusalOf } from '../fixtures/answers.ts'
import { fromPageOf, sessionOf, signIn } from '../fixtures/browser.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey, unknownToken } from '../fixtures/test-keys.ts'
import { testSecretKeys } from '../fixtures/test-secret-keys.ts'
import { createSessions, sessionSeconds } from './sessions.ts'

const { pool, url: databaseUrl } = await testDatabase()
const api = await testApi({ databaseUrl })
const { url } = api
const viewer = await makeKey(pool, { scopes: ['ops:view'] })
const questions = '/ops/queues/api/queues'

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers, redirect: 'manual' })

test('a person without a session is sent to the form, a program is told', async () => {
  for (const path of ['/ops/queues', '/ops/queues/queue/invocations', '/ops/queues/job-schedulers']) {
    const answer = await get(path)
    assert.equal(`${answer.status} ${answer.headers.get('location')}`, '303 /ops/sign-in', path)
    assert.equal(await refusalOf(await get(path, bearer(unknownToken(1)))), '401 unauthenticated')
  }
  for (const path of [questions, '/ops/queues/static/fonts.css', '/ops/queues/api/redis/stats'])
    assert.equal(await refusalOf(await get(path)), '401 unauthenticated', path)
})

test('signing in gives a short session that no script can read and no other page can use', async () => {
  const answer = await signIn(url, ` ${viewer.token}\n`)
  assert.equal(`${answer.status} ${answer.headers.get('location')}`, '303 /ops/queues')
  const [cookie = '', ...others] = answer.headers.getSetCookie()
  assert.deepEqual(others, [])
  assert.match(cookie, /^toolyard_ops=[^;]{80,120}; Max-Age=1800; Path=\/ops; HttpOnly; SameSite=Strict$/)
  const session = { cookie: cookie.split(';')[0] ?? '' }
  assert.equal((await get('/ops/queues', session)).status, 200)
  assert.equal((await get(questions, session)).status, 200)
  assert.doesNotMatch(cookie, new RegExp(viewer.token.slice(-64)))
  assert.doesNotMatch(api.logText(), new RegExp(`${viewer.token.slice(-64)}|${session.cookie.slice(-43)}`))
})

test('a session opens nothing but what is below /ops', async () => {
  const session = await sessionOf(url, viewer.token)
  for (const path of ['/metrics', '/audit', '/keys'])
    assert.equal(await refusalOf(await get(path, session)), '401 unauthenticated')
})

test('the cookie is for secure connections only where a proxy says that there is one', async () => {
  const proxied = await testApi({ databaseUrl, trustedProxies: 1 })
  const https = { ...fromPageOf(proxied.url), 'x-forwarded-proto': 'https' }
  const [cookie = ''] = (await signIn(proxied.url, viewer.token, https)).headers.getSetCookie()
  assert.match(
    cookie,
    /^__Secure-toolyard_ops=[^;]+; Max-Age=1800; Path=\/ops; HttpOnly; Secure; SameSite=Strict$/,
  )
  const session = cookie.split(';')[0] ?? ''
  const ask = (headers: Record<string, string>) => fetch(`${proxied.url}${questions}`, { headers })
  assert.equal((await ask({ cookie: session, 'x-forwarded-proto': 'https' })).status, 200)
  // What was planted without the prefix counts for nothing on a secure connection.
  const planted = { cookie: session.replace('__Secure-', ''), 'x-forwarded-proto': 'https' }
  assert.equal(await refusalOf(await ask(planted)), '401 unauthenticated')
  // Nobody is believed where there is no proxy.
  const [plain = ''] = (await signIn(url, viewer.token, https)).headers.getSetCookie()
  assert.equal(plain, '', 'the page of another address')
  const direct = { ...fromPageOf(url), 'x-forwarded-proto': 'https' }
  assert.match((await signIn(url, viewer.token, direct)).headers.getSetCookie()[0] ?? '', /^toolyard_ops=/)
})

test('a session holds in every process of the installation', async () => {
  const other = await testApi({ databaseUrl })
  const session = await sessionOf(url, viewer.token)
  assert.equal((await fetch(`${other.url}${questions}`, { headers: session })).status, 200)
})

test('what is wrong with a key is told in the form, and makes no session', async () => {
  const bound = await makeKey(pool, { scopes: ['ops:view', 'tools:manage'], tools: ['a'] })
  const boundToTopic = await makeKey(pool, { scopes: ['ops:view'], topics: ['a'] })
  const revoked = await makeKey(pool, { scopes: ['ops:view'] })
  await revokeKey(pool, { actor: { kind: 'operator' } }, revoked.id)
  const refused: [token: string, status: number, words: RegExp][] = [
    ['', 401, /A key is needed/],
    ['<script>alert(1)</script>', 401, /wrong/],
    [unknownToken(2), 401, /wrong/],
    [revoked.token, 401, /wrong/],
    [(await makeKey(pool)).token, 403, /ops:view/],
    [bound.token, 403, /bound/],
    [boundToTopic.token, 403, /bound/],
  ]
  for (const [token, status, words] of refused) {
    const answer = await signIn(url, token)
    const text = await answer.text()
    assert.equal(answer.status, status, token)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(text, words)
    assert.doesNotMatch(text, /<script/)
    if (token !== '') assert.ok(!text.includes(token))
    assert.deepEqual(answer.headers.getSetCookie(), [])
  }
  for (const { token } of [bound, boundToTopic])
    assert.equal(await refusalOf(await get(questions, bearer(token))), '403 missing_scope')
})

test('wrong keys cost their address what they cost everywhere', async () => {
  const guarded = await testApi({ databaseUrl, authFailuresPerMinute: 2 })
  for (const expected of [401, 401, 429]) {
    const answer = await signIn(guarded.url, unknownToken(3))
    assert.equal(answer.status, expected)
    if (expected === 429) {
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      assert.match(await answer.text(), /Too many wrong keys[^<]* try again in \d+ s/)
    }
  }
  const elsewhere = await fetch(`${guarded.url}/keys`, { headers: bearer(unknownToken(4)) })
  assert.equal(await refusalOf(elsewhere), '429 rate_limited')
  assert.equal((await signIn(guarded.url, viewer.token)).status, 303, 'a real key never pays')
})

test('no page of another origin can sign anybody in or out', async () => {
  const session = await sessionOf(url, viewer.token)
  const foreign: Record<string, string>[] = [
    {},
    { origin: 'null' },
    { origin: 'http://evil.example' },
    { origin: `${url}.evil.example` },
    { origin: url.replace('127.0.0.1', '127.0.0.1@evil.example') },
    { ...fromPageOf(url), 'sec-fetch-site': 'cross-site' },
    { ...fromPageOf(url), 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    const answer = await signIn(url, viewer.token, headers)
    assert.equal(answer.status, 401, JSON.stringify(headers))
    assert.deepEqual(answer.headers.getSetCookie(), [])
    const out = await fetch(`${url}/ops/sign-out`, { method: 'POST', headers: { ...session, ...headers } })
    assert.equal(await refusalOf(out), '401 unauthenticated')
    assert.deepEqual(out.headers.getSetCookie(), [])
  }
  assert.equal((await signIn(url, viewer.token, { 'sec-fetch-site': 'same-origin' })).status, 303)
})

test('behind a proxy a page is of the address that the proxy was asked for', async () => {
  const proxied = await testApi({ databaseUrl, trustedProxies: 1 })
  const origin = 'https://tools.example'
  const statusWith = async (headers: Record<string, string>) =>
    (await signIn(proxied.url, viewer.token, headers)).status
  assert.equal(await statusWith({ origin, 'x-forwarded-host': 'evil.example, tools.example' }), 303)
  assert.equal(await statusWith({ origin, 'x-forwarded-host': 'tools.example, evil.example' }), 401)
  assert.equal(await statusWith({ origin }), 401)
  assert.equal((await signIn(url, viewer.token, { origin, 'x-forwarded-host': 'tools.example' })).status, 401)
})

test('signing out takes the cookie away', async () => {
  const session = await sessionOf(url, viewer.token)
  assert.match(
    await (await get('/ops/sign-out', session)).text(),
    /<form method="post" action="\/ops\/sign-out">/,
  )
  const headers = { ...session, ...fromPageOf(url) }
  const answer = await fetch(`${url}/ops/sign-out`, { method: 'POST', headers, redirect: 'manual' })
  assert.equal(`${answer.status} ${answer.headers.get('location')}`, '303 /ops/sign-in')
  assert.match(answer.headers.getSetCookie()[0] ?? '', /^toolyard_ops=; Max-Age=0; Path=\/ops; HttpOnly/)
})

test('a session ends with its key at once, in every process', async () => {
  const other = await testApi({ databaseUrl })
  const leaving = await makeKey(pool, { scopes: ['ops:view'] })
  const session = await sessionOf(url, leaving.token)
  const everywhere = [`${url}${questions}`, `${other.url}${questions}`]
  for (const address of everywhere) assert.equal((await fetch(address, { headers: session })).status, 200)
  await revokeKey(pool, { actor: { kind: 'operator' } }, leaving.id)
  for (const address of everywhere)
    assert.equal(await refusalOf(await fetch(address, { headers: session })), '401 unauthenticated')
  const expiring = await makeKey(pool, { scopes: ['ops:view'] })
  const held = await sessionOf(url, expiring.token)
  await pool.query(`update api_keys set expires_at = clock_timestamp() where id = $1`, [expiring.id])
  assert.equal(await refusalOf(await get(questions, held)), '401 unauthenticated')
  await pool.query('delete from api_keys where id = $1', [expiring.id])
  assert.equal(await refusalOf(await get(questions, held)), '401 unauthenticated')
})

test('a session ends after half an hour, and no text that was changed is one', async () => {
  const { masterKeys } = await openVault({ pool, secretKeys: testSecretKeys, dataDir: '/nowhere' })
  const begin = async (agoSeconds: number) => {
    const nowMs = () => Date.now() - agoSeconds * 1_000
    return createSessions({ masterKeys: async () => masterKeys, nowMs }).begin(viewer.id)
  }
  const statusOf = async (session: string) =>
    (await get(questions, { cookie: `toolyard_ops=${session}` })).status
  assert.equal(await statusOf(await begin(sessionSeconds - 10)), 200)
  assert.equal(await statusOf(await begin(sessionSeconds)), 401)
  assert.equal(await statusOf(await begin(-5)), 200, 'made by a process whose clock is ahead')
  const [keyId = '', endsAt = '', signature = ''] = (await begin(60)).split('.')
  const other = await makeKey(pool, { scopes: ['ops:view'] })
  const changed = [
    `${other.id}.${endsAt}.${signature}`,
    `${keyId}.${Number(endsAt) + 1}.${signature}`,
    `${keyId}.${endsAt}.${'A'.repeat(43)}`,
    `${keyId}.${endsAt}.`,
    `${keyId}.${endsAt}`,
    'x',
    '',
  ]
  for (const session of changed) assert.equal(await statusOf(session), 401, session)
  assert.equal(await statusOf(`${keyId}.${endsAt}.${signature}`), 200)
})

test('who has no key cannot make the server take in a large form', async () => {
  const answer = await signIn(url, 'x'.repeat(2_000))
  assert.equal(await refusalOf(answer), '413 payload_too_large')
})
