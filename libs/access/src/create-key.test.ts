import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import type { NewKeyBody } from '@toolyard/contract/keys'
import { keyShape, newKeyBody } from '@toolyard/contract/keys'
import { testDatabase } from '@toolyard/testkit/database'
import { callBy, makeKey, manager, operator } from '../fixtures/keys.ts'
import { toKeyShape } from './access-key.ts'
import { createKey } from './create-key.ts'
import { listAudit } from './list-audit.ts'
import { revokeKey } from './revoke-key.ts'
import { parseToken } from './token.ts'

const { pool } = await testDatabase()

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const epoch = async () =>
  BigInt((await pool.query<{ epoch: string }>('select epoch from access_epoch')).rows[0]?.epoch ?? -1)
const countRows = async () =>
  (
    await pool.query<{ n: string }>(
      'select (select count(*) from api_keys) || $1 || (select count(*) from audit) as n',
      ['/'],
    )
  ).rows[0]?.n

const refused =
  (code: string, ...pointers: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof AppError, String(error))
    assert.deepEqual([error.code, error.faults.map((fault) => fault.pointer)], [code, pointers])
    return true
  }

test('a new key is stored with its bindings, audited, and moves the epoch once', async () => {
  const before = await epoch()
  const expires = inHours(1)
  const { key, token } = await createKey(
    pool,
    { ...operator, requestId: 'req_made' },
    {
      name: 'agent',
      scopes: ['tools:read', 'tools:read'],
      topics: ['a', 'b', 'a'],
      tools: ['x'],
      expires_at: expires,
    },
  )
  assert.equal(parseToken(token)?.id, key.id)
  assert.deepEqual(keyShape.parse(toKeyShape(key)), {
    id: key.id,
    name: 'agent',
    scopes: ['tools:read'],
    topics: ['a', 'b'],
    tools: ['x'],
    created_at: key.createdAt.toISOString(),
    expires_at: expires,
    revoked_at: null,
  })
  assert.equal(await epoch(), before + 1n)
  const [entry] = (await listAudit(pool, operator.actor)).entries
  assert.deepEqual(
    { ...entry, id: '', at: '' },
    {
      id: '',
      at: '',
      actor: 'operator',
      actor_name: 'operator',
      action: 'key.create',
      target: `key:${key.id}`,
      detail: {
        name: 'agent',
        scopes: ['tools:read'],
        topics: ['a', 'b'],
        tools: ['x'],
        expires_at: expires,
      },
      request_id: 'req_made',
    },
  )
})

type Escalation = {
  name: string
  maker: Partial<NewKeyBody>
  wanted: Partial<NewKeyBody>
  refusal?: [string, ...string[]]
}
const soon = inHours(1)
const escalations: Escalation[] = [
  { name: 'a subset of its scopes', maker: {}, wanted: { scopes: ['tools:read'] } },
  { name: 'all of its scopes', maker: {}, wanted: { scopes: manager } },
  {
    name: 'a scope it lacks',
    maker: {},
    wanted: { scopes: ['tools:read', 'ops:view'] },
    refusal: ['missing_scope', '/scopes/1'],
  },
  { name: 'bindings, being unbound', maker: {}, wanted: { topics: ['a'], tools: ['x'] } },
  { name: 'an expiry, having none', maker: {}, wanted: { expires_at: soon } },
  { name: 'a part of its topics', maker: { topics: ['a', 'b'] }, wanted: { topics: ['b'] } },
  {
    name: 'a foreign topic',
    maker: { topics: ['a'] },
    wanted: { topics: ['a', 'c'] },
    refusal: ['invalid_request', '/topics/1'],
  },
  {
    name: 'no topic binding, being bound',
    maker: { topics: ['a'] },
    wanted: {},
    refusal: ['invalid_request', '/topics'],
  },
  { name: 'a part of its tools', maker: { tools: ['x', 'y'] }, wanted: { tools: ['x'] } },
  {
    name: 'a foreign tool',
    maker: { tools: ['x'] },
    wanted: { tools: ['z', 'x'] },
    refusal: ['invalid_request', '/tools/0'],
  },
  {
    name: 'no tool binding, being bound',
    maker: { tools: ['x'] },
    wanted: { topics: ['x'] },
    refusal: ['invalid_request', '/tools'],
  },
  { name: 'its own expiry', maker: { expires_at: soon }, wanted: { expires_at: soon } },
  {
    name: 'its own expiry in another zone',
    maker: { expires_at: soon },
    wanted: { expires_at: new Date(Date.parse(soon) + 7_200_000).toISOString().replace('Z', '+02:00') },
  },
  {
    name: 'a later expiry',
    maker: { expires_at: soon },
    wanted: { expires_at: inHours(2) },
    refusal: ['invalid_request', '/expires_at'],
  },
  {
    name: 'no expiry, having one',
    maker: { expires_at: soon },
    wanted: {},
    refusal: ['invalid_request', '/expires_at'],
  },
  {
    name: 'everything at once',
    maker: { topics: ['a'], tools: ['x'], expires_at: soon },
    wanted: { scopes: ['keys:manage', 'invocations:raw'] },
    refusal: ['missing_scope', '/scopes/1', '/topics', '/tools', '/expires_at'],
  },
]

for (const { name, maker, wanted, refusal } of escalations) {
  test(`a key ${refusal ? 'cannot' : 'can'} give ${name}`, async () => {
    const made = await makeKey(pool, { scopes: manager, ...maker })
    const before = await countRows()
    const body = newKeyBody.parse({ name: 'child', scopes: ['tools:read'], ...wanted })
    const creation = createKey(pool, callBy(made), body)
    if (refusal === undefined) {
      const child = await creation
      if (maker.expires_at) assert.ok(Number(child.key.expiresAt) <= Date.parse(maker.expires_at))
      return
    }
    const [code, ...pointers] = refusal
    await assert.rejects(creation, refused(code, ...pointers))
    assert.equal(await countRows(), before)
  })
}

test('a key without keys:manage makes no key', async () => {
  const made = await makeKey(pool, { scopes: ['tools:read'] })
  await assert.rejects(
    createKey(pool, callBy(made), { name: 'child', scopes: ['tools:read'] }),
    refused('missing_scope'),
  )
})

test('a key that was revoked a moment ago makes no key, although this process has not noticed yet', async () => {
  const made = await makeKey(pool, { scopes: manager })
  await revokeKey(pool, operator, made.key.id)
  const before = [await countRows(), await epoch()]
  await assert.rejects(
    createKey(pool, callBy(made), { name: 'child', scopes: ['tools:read'] }),
    refused('unauthenticated'),
  )
  await assert.rejects(revokeKey(pool, callBy(made), made.key.id), refused('unauthenticated'))
  assert.deepEqual([await countRows(), await epoch()], before)
})

test('a revocation and a creation by the same key at once end in one order or the other', async () => {
  const made = await makeKey(pool, { scopes: manager })
  const race = await Promise.allSettled([
    revokeKey(pool, callBy(made), made.key.id),
    ...Array.from({ length: 6 }, () =>
      createKey(pool, callBy(made), { name: 'racer', scopes: ['tools:read'] }),
    ),
  ])
  assert.equal(race[0]?.status, 'fulfilled')
  const late = await pool.query(
    "select 1 from api_keys as child, api_keys as maker where maker.id = $1 and child.name = 'racer' and child.created_at > maker.revoked_at",
    [made.key.id],
  )
  const successes = race.slice(1).filter((one) => one.status === 'fulfilled').length
  const stored = await pool.query("select 1 from api_keys where name = 'racer'")
  assert.equal(stored.rowCount, successes)
  assert.equal(late.rowCount, 0)
})

test('a key that would be expired from the start is refused', async () => {
  await assert.rejects(makeKey(pool, { expires_at: inHours(-1) }), refused('invalid_request', '/expires_at'))
})

test('neither secret nor hash is in what is answered, audited or printed (I6)', async () => {
  const { key, token } = await makeKey(pool)
  const secret = parseToken(token)?.secret ?? assert.fail()
  const nested = await createKey(pool, callBy({ key, token }), {
    name: `pasted ${token}`,
    scopes: ['keys:manage'],
  })
  await revokeKey(pool, callBy(nested), key.id)
  const stored = await pool.query<{ secret_hash: string }>('select secret_hash from api_keys where id = $1', [
    key.id,
  ])
  const hash = stored.rows[0]?.secret_hash ?? assert.fail()
  assert.match(hash, /^\$argon2id\$/)
  const audit = await pool.query(
    'select id, at, actor, actor_name, action, target, detail, request_id from audit',
  )
  const shown = JSON.stringify([audit.rows, key, toKeyShape(key), await listAudit(pool, operator.actor)])
  assert.ok(shown.includes(key.id))
  for (const canary of [secret, hash, hash.split('$').at(-1) ?? assert.fail(), '$argon2'])
    assert.ok(!shown.includes(canary))
})

test('the body refuses what would steer a terminal or what Postgres cannot hold', () => {
  for (const name of ['a\0b', 'a\u001b[2J', 'a\u009b', 'a\nb', '   ', 'x'.repeat(101)]) {
    assert.equal(newKeyBody.safeParse({ name, scopes: ['tools:read'] }).success, false, JSON.stringify(name))
  }
  for (const topic of ['key:mine', '', 'a\0', 'x'.repeat(201)]) {
    assert.equal(newKeyBody.safeParse({ name: 'a', scopes: ['tools:read'], topics: [topic] }).success, false)
  }
})

test('there is an end to the number of keys that work (I8)', async () => {
  const { pool: full } = await testDatabase()
  await full.query(`
    insert into api_keys (id, name, secret_hash, secret_check, scopes)
    select lpad(n::text, 26, '0'), 'filler', '-', '\\x00000000', '{tools:read}' from generate_series(1, 9999) as n`)
  const last = await makeKey(full)
  await assert.rejects(makeKey(full), refused('invalid_request'))
  await revokeKey(full, operator, last.key.id)
  await makeKey(full)
})
