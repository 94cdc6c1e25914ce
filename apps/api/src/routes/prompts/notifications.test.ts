import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { notifiedShape } from '@toolyard/contract/prompts'
import { scopes } from '@toolyard/contract/scopes'
import { testDatabase } from '@toolyard/testkit/database'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })

const takesMessage = { message: { type: 'string', required: true } }
const notifying = (name: string, more: object = {}) =>
  newManifest(name, { parameters: takesMessage, notification: { default_enabled: true }, ...more })

await publishTools(pool, [
  notifying('telegram'),
  notifying('mail'),
  notifying('silent', { notification: { default_enabled: false } }),
  newManifest('plain', { parameters: takesMessage }),
  notifying('deaf', { parameters: {} }),
  notifying('numbers', { parameters: { message: { type: 'integer', required: true } } }),
  notifying('locked', { config_schema: { token: { secret: true, required: true } } }),
  notifying('off'),
])
await pool.query("update tools set enabled = false where name = 'off'")

const notified = notifiedShape.strict()

function notify(body: unknown, { token = admin.token, key }: { token?: string; key?: string } = {}) {
  return fetch(`${api.url}/notifications`, {
    method: 'POST',
    headers: {
      ...bearer(token),
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function countInvocations(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::integer as count from invocations')
  return rows[0]?.count ?? 0
}

test('every tool for notifications is called with the message, and those that cannot be are named', async () => {
  const answer = await notify({ message: 'Dinner\nis "ready" 🍝', topic: 'home' })
  assert.equal(answer.status, 202)
  const { invocations, skipped } = await bodyOf(answer, notified)
  assert.deepEqual(
    invocations.map(({ tool }) => tool),
    ['mail', 'telegram'],
  )
  assert.deepEqual(
    skipped.map(({ tool, code }) => `${tool} ${code}`),
    ['deaf invalid_params', 'locked not_configured', 'numbers invalid_params', 'off tool_disabled'],
  )
  assert.match(skipped[0]?.detail ?? '', /\/params\/message is not a parameter of this tool/)
  for (const { tool, id } of invocations) {
    const read = await fetch(`${api.url}/invocations/${id}`, { headers: bearer(admin.token) })
    const invocation = await bodyOf(read, invocationShape.strict())
    assert.deepEqual([invocation.tool, invocation.topic, invocation.status], [tool, 'home', 'queued'])
    const { rows } = await pool.query('select params from invocation_inputs where id = $1', [id])
    assert.deepEqual(rows, [{ params: { message: 'Dinner\nis "ready" 🍝' } }])
  }
})

test('a key notifies with its own tools, in its own topics', async () => {
  const bound = await makeKey(pool, { scopes: ['tools:invoke'], tools: ['mail', 'deaf'], topics: ['a', 'b'] })
  const { token } = bound
  const { invocations, skipped } = await bodyOf(
    await notify({ message: 'x', topic: 'a' }, { token }),
    notified,
  )
  assert.deepEqual(
    [invocations.map(({ tool }) => tool), skipped.map(({ tool }) => tool)],
    [['mail'], ['deaf']],
  )
  const before = await countInvocations()
  assert.equal(await refusalOf(await notify({ message: 'x', topic: 'c' }, { token })), '404 not_found')
  assert.equal(await refusalOf(await notify({ message: 'x' }, { token })), '422 topic_required')
  const nothing = await makeKey(pool, { scopes: ['tools:invoke'], tools: ['plain'] })
  const none = await bodyOf(await notify({ message: 'x' }, { token: nothing.token }), notified)
  assert.deepEqual(none, { invocations: [], skipped: [] })
  assert.equal(await countInvocations(), before)
})

test('the same key and body call each tool once; another body is refused', async () => {
  const body = { message: 'once', topic: 'home' }
  const first = await notify(body, { key: 'n-1' })
  const { invocations } = await bodyOf(first, notified)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  const before = await countInvocations()
  const answers = await Promise.all(Array.from({ length: 20 }, () => notify(body, { key: 'n-1' })))
  for (const again of answers) {
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual((await bodyOf(again, notified)).invocations, invocations)
  }
  for (const other of [{ ...body, message: 'twice' }, { message: 'once' }])
    assert.equal(await refusalOf(await notify(other, { key: 'n-1' })), '422 idempotency_mismatch')
  assert.equal(await countInvocations(), before)
  assert.notDeepEqual((await bodyOf(await notify(body, { key: 'n-2' }), notified)).invocations, invocations)
  assert.equal(await refusalOf(await notify(body, { key: 'two words' })), '422 invalid_request')
  // A tool that comes later, or can be called only now, is called by the repeat; the others are not again.
  await pool.query("update tools set enabled = true where name = 'off'")
  const more = await notify(body, { key: 'n-1' })
  await pool.query("update tools set enabled = false where name = 'off'")
  assert.equal(more.headers.get('idempotency-replayed'), null)
  const { invocations: all } = await bodyOf(more, notified)
  assert.deepEqual(
    all.filter(({ tool }) => tool !== 'off'),
    invocations,
  )
  assert.equal(all.length, invocations.length + 1)
})

test('the key of a notification is no key of a call', async () => {
  const { invocations } = await bodyOf(await notify({ message: 'x' }, { key: 'shared' }), notified)
  const invoked = await fetch(`${api.url}/tools/mail/invoke`, {
    method: 'POST',
    headers: {
      ...bearer(admin.token),
      'content-type': 'application/json',
      'idempotency-key': 'shared',
    },
    body: JSON.stringify({ params: { message: 'x' } }),
  })
  assert.equal(invoked.status, 202)
  const { id } = await bodyOf(invoked, invocationShape)
  assert.ok(invocations.every((one) => one.id !== id))
})

test('what says nothing clear is refused, and so is all while tools are switched off', async () => {
  for (const [body, pointer] of [
    [{}, '/message'],
    [{ message: '' }, '/message'],
    [{ message: 5 }, '/message'],
    [{ message: 'x'.repeat(10_001) }, '/message'],
    [{ message: 'a\u0000b' }, '/message'],
    [{ message: '\ud800' }, '/message'],
    [{ message: 'x', topic: 'cron:mail' }, '/topic'],
    [{ message: 'x', tools: ['mail'] }, '/tools'],
  ] as const) {
    const { status, faults } = await problemOf(await notify(body))
    assert.deepEqual([status, faults?.[0]?.pointer], [422, pointer], JSON.stringify(body).slice(0, 50))
  }
  assert.equal(await refusalOf(await notify('{')), '400 malformed_request')
  assert.equal(await refusalOf(await notify({ message: 'x'.repeat(1_100_000) })), '413 payload_too_large')
  await pool.query("update switches set is_on = false where name = 'tools_enabled'")
  const refused = await refusalOf(await notify({ message: 'x' }))
  await pool.query("update switches set is_on = true where name = 'tools_enabled'")
  assert.equal(refused, '503 tools_disabled')
})

test('the route asks for its scope', async () => {
  const { token } = await makeKey(pool, { scopes: scopes.filter((scope) => scope !== 'tools:invoke') })
  assert.equal(await refusalOf(await notify({ message: 'x' }, { token })), '403 missing_scope')
  assert.equal(await refusalOf(await notify({ message: 'x' }, { token: 'yk_x' })), '401 unauthenticated')
})
