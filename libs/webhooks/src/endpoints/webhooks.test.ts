import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { AccessKey } from '@toolyard/access/access-key'
import { AppError } from '@toolyard/contract/errors'
import type { ChangeWebhookBody } from '@toolyard/contract/webhooks'
import { transaction } from '@toolyard/db/transaction'
import { callBy, hearing, makeGround, operator, unreachablePool } from '../../fixtures/ground.ts'
import { changeWebhook } from './change-webhook.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { getWebhook, listWebhooks } from './list-webhooks.ts'
import { toWebhookShape } from './webhook.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const url = 'http://127.0.0.1:9/in'
const owner = callBy(ground.key)
const hidden = { code: 'not_found', message: 'There is no such webhook' }

beforeEach(() => ground.clear())

test('a webhook is shown as it was asked for, its secret once', async () => {
  const { webhook, secret } = await ground.addWebhook(url, {
    description: 'mine',
    events: ['invocation.failed'],
    tools: ['weather'],
    topics: ['trip'],
  })
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = toWebhookShape(webhook)
  assert.match(id, /^whk_[0-9a-z]{26}$/)
  assert.ok(createdAt <= updatedAt)
  assert.deepEqual(rest, {
    url,
    description: 'mine',
    events: ['invocation.failed'],
    tools: ['weather'],
    topics: ['trip'],
    enabled: true,
    paused: null,
    failing_since: null,
    rotated_until: null,
  })
  assert.deepEqual(await getWebhook(pool, owner.actor, id), webhook)
})

test('pages of webhooks hold each once, newest first', async () => {
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push((await ground.addWebhook(url)).webhook.id)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listWebhooks(pool, owner.actor, { limit: 2, cursor })
    seen.push(...page.webhooks.map(({ id }) => id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual(seen, made.toSorted().toReversed())
  await assert.rejects(listWebhooks(pool, owner.actor, { cursor: "x' or 1=1" }), { code: 'invalid_request' })
})

const everything = {
  get: (by: AccessKey, id: string, at = pool) => getWebhook(at, callBy(by).actor, id),
  change: (by: AccessKey, id: string, at = pool) =>
    changeWebhook({ vault: { ...vault, pool: at }, rules }, callBy(by), id, { enabled: false }),
  rotate: (by: AccessKey, id: string, at = pool) =>
    changeWebhook({ vault: { ...vault, pool: at }, rules }, callBy(by), id, { rotate_secret: true }),
  delete: (by: AccessKey, id: string, at = pool) => deleteWebhook({ ...vault, pool: at }, callBy(by), id),
}

/** What the table has of a webhook afterwards. */
const leftBy: Record<string, { enabled: boolean; secret_no: number }[]> = {
  get: [{ enabled: true, secret_no: 1 }],
  change: [{ enabled: false, secret_no: 1 }],
  rotate: [{ enabled: true, secret_no: 2 }],
  delete: [],
}

for (const [what, run] of Object.entries(everything)) {
  test(`a bound key cannot ${what} a webhook of another key, and is told that there is none`, async () => {
    const before = await ground.addWebhook(url)
    const twin = await ground.makeKey({ topics: ['trip'] })
    const theirs = await ground.addWebhook(url, { by: twin })
    for (const bound of [
      await ground.makeKey({ topics: ['trip'] }),
      await ground.makeKey({ tools: ['weather'] }),
    ]) {
      for (const { webhook } of [before, theirs]) await assert.rejects(run(bound, webhook.id), hidden)
      assert.deepEqual(await listWebhooks(pool, callBy(bound).actor), { webhooks: [], nextCursor: null })
    }
    assert.deepEqual(await getWebhook(pool, owner.actor, before.webhook.id), before.webhook)
    await run(twin, theirs.webhook.id)
  })

  test(`an unbound key ${what === 'rotate' ? 'that manages keys ' : ''}may ${what} any webhook`, async () => {
    const bound = await ground.makeKey({ topics: ['trip'] })
    const { webhook } = await ground.addWebhook(url, { by: bound })
    const answer = await run(
      what === 'rotate' ? await ground.makeKey({ scopes: ['keys:manage', ...hearing] }) : ground.key,
      webhook.id,
    )
    if (what === 'get') assert.deepEqual(answer, webhook)
    const { rows } = await pool.query('select enabled, secret_no from webhooks where id = $1', [webhook.id])
    assert.deepEqual(rows, leftBy[what])
  })

  test(`what is no id of a webhook cannot be meant by ${what}, and never reaches the database`, async () => {
    const none = unreachablePool()
    const ids = ['', 'whk_', `whk_${'A'.repeat(26)}`, `whk_${'a'.repeat(25)}\0`, 'x'.repeat(10_000), "'"]
    for (const id of ids) await assert.rejects(run(ground.key, id, none), hidden)
    await assert.rejects(run(ground.key, `whk_${'a'.repeat(26)}`, none), { code: 'ECONNREFUSED' })
  })
}

test('of a webhook of another key nothing may be chosen, and no secret had, without the scope keys:manage', async () => {
  const { webhook } = await ground.addWebhook(url)
  const change = (by: AccessKey, body: ChangeWebhookBody) =>
    changeWebhook({ vault, rules }, callBy(by), webhook.id, body)
  const intruder = await ground.makeKey()
  const refused: ChangeWebhookBody[] = [
    { url: `${url}/theirs` },
    { rotate_secret: true },
    { events: ['prompt.created'] },
    { tools: null },
    { topics: ['trip'] },
    { description: 'theirs', enabled: true, resume: true },
  ]
  for (const body of refused)
    await assert.rejects(change(intruder, body), (error) => {
      assert.ok(error instanceof AppError && error.code === 'missing_scope')
      assert.deepEqual(
        error.faults?.map(({ pointer }) => pointer.slice(1)),
        Object.keys(body),
      )
      return error.faults.every(({ detail }) => detail.includes('keys:manage'))
    })
  await assert.rejects(change(intruder, { enabled: false, url }), { code: 'missing_scope' })
  assert.deepEqual(await getWebhook(pool, owner.actor, webhook.id), webhook)
  assert.equal((await change(intruder, { enabled: false })).webhook.enabled, false)
  const warden = await ground.makeKey({ scopes: ['keys:manage', ...hearing] })
  assert.ok((await change(warden, { url: `${url}/new`, rotate_secret: true, enabled: true })).secret)
})

test('who may not read invocations is not told of their ends, neither at first nor later', async () => {
  const scopes = ['webhooks:manage' as const]
  const [deaf, warden] = [
    await ground.makeKey({ scopes }),
    await ground.makeKey({ scopes: ['keys:manage', ...scopes] }),
  ]
  const refused = (pointer: string, event: string) => ({
    code: 'missing_scope',
    faults: [{ pointer, detail: `${event} needs a key with the scope invocations:read` }],
  })
  const { rows: before } = await pool.query('select count(*)::int as n from vault_settings')
  for (const event of ['invocation.finished', 'invocation.failed'] as const)
    await assert.rejects(
      ground.addWebhook(url, { by: deaf, events: ['prompt.created', event] }),
      refused('/events/1', event),
    )
  assert.deepEqual((await pool.query('select count(*)::int as n from vault_settings')).rows, before)
  const { webhook } = await ground.addWebhook(url, { by: deaf, events: ['prompt.created'] })
  const change = (by: AccessKey, id: string, body: ChangeWebhookBody) =>
    changeWebhook({ vault, rules }, callBy(by), id, body)
  const ends = { events: ['invocation.failed' as const] }
  await assert.rejects(change(deaf, webhook.id, ends), refused('/events/0', 'invocation.failed'))
  // Neither through a key that may choose more than the webhook's own may read, nor by leading one that is told away.
  const reader = await ground.makeKey({ scopes: ['keys:manage', ...hearing] })
  await assert.rejects(change(reader, webhook.id, ends), refused('/events/0', 'invocation.failed'))
  const { webhook: told } = await ground.addWebhook(url)
  await assert.rejects(change(warden, told.id, { url }), refused('/events/0', 'invocation.finished'))
  await change(warden, told.id, { enabled: false })
  await change(deaf, webhook.id, { description: 'still mine', events: ['tool.image_failed'] })
})

test('a bound key cannot ask for what it may not see, neither at first nor later', async () => {
  const by = await ground.makeKey({ topics: ['trip'], tools: ['weather', 'radar'] })
  const outside = {
    code: 'invalid_request',
    faults: [
      { pointer: '/tools/1', detail: 'is not within the bindings of this key' },
      { pointer: '/topics/0', detail: 'is not within the bindings of this key' },
    ],
  }
  const parts = { tools: ['weather', 'mail'], topics: ['home', 'trip'] }
  await assert.rejects(ground.addWebhook(url, { by, ...parts }), outside)
  const { webhook } = await ground.addWebhook(url, { by, tools: ['radar'], topics: null })
  await assert.rejects(changeWebhook({ vault, rules }, callBy(by), webhook.id, parts), outside)
  await changeWebhook({ vault, rules }, callBy(by), webhook.id, { tools: null, topics: ['trip'] })
})

test('an address that is refused is refused at first and later, and nothing is left of it', async () => {
  const { webhook } = await ground.addWebhook(url)
  const { rows: before } = await pool.query('select count(*)::int as n from vault_settings')
  const refused = { code: 'invalid_request', message: 'Nothing is sent to this address' }
  for (const bad of [
    'http://169.254.169.254/',
    'http://127.0.0.1:5432/',
    'file:///etc/passwd',
    'https://u:p@a.example/',
  ]) {
    const body = {
      url: bad,
      description: '',
      events: ['invocation.finished' as const],
      tools: null,
      topics: null,
      enabled: true,
    }
    await assert.rejects(createWebhook({ vault, rules }, owner, body), refused)
    await assert.rejects(changeWebhook({ vault, rules }, owner, webhook.id, { url: bad }), refused)
  }
  const { rows: after } = await pool.query('select count(*)::int as n from vault_settings')
  assert.deepEqual(after, before)
  assert.equal((await getWebhook(pool, owner.actor, webhook.id)).url, url)
})

test('a key has at most a hundred webhooks, and all keys that live five hundred; who is refused leaves no secret', async () => {
  await pool.query(
    `insert into webhooks (id, key_id, url, description, events)
     select 'whk_' || lpad(n::text, 26, '0'), $1, 'u', '', '{prompt.created}' from generate_series(1, 99) as n`,
    [ground.key.id],
  )
  const secrets = async () => (await pool.query('select from vault_settings')).rowCount
  const before = (await secrets()) ?? 0
  const added = await Promise.allSettled(Array.from({ length: 5 }, () => ground.addWebhook(url)))
  assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 1)
  await assert.rejects(ground.addWebhook(url), {
    code: 'invalid_request',
    message: 'A key has at most 100 webhooks: delete one first',
  })
  assert.equal(await secrets(), before + 1)
  const [ended, other] = [await ground.makeKey(), await ground.makeKey()]
  await pool.query('update api_keys set revoked_at = now() where id = $1', [ended.id])
  const fill = (key: AccessKey, from: number, to: number) =>
    pool.query(
      `insert into webhooks (id, key_id, url, description, events)
       select 'whk_' || lpad(n::text, 26, '0'), $1, 'u', '', '{prompt.created}' from generate_series($2::int, $3::int) as n`,
      [key.id, from, to],
    )
  await fill(ended, 1_000, 2_000)
  await ground.addWebhook(url, { by: other })
  await fill(await ground.makeKey(), 3_000, 3_398)
  await assert.rejects(ground.addWebhook(url, { by: other }), {
    code: 'invalid_request',
    message: 'There are 500 webhooks already: delete some first',
  })
})

test('a key that was revoked or has expired since it was verified makes no webhook', async () => {
  for (const change of ['revoked_at = now()', 'expires_at = now()']) {
    const by = await ground.makeKey()
    await pool.query(`update api_keys set ${change} where id = $1`, [by.id])
    await assert.rejects(ground.addWebhook(url, { by }), { code: 'unauthenticated' })
  }
})

test('what is not named in a change stays, and every change is in the audit without the address', async () => {
  await pool.query('truncate audit')
  const { webhook } = await ground.addWebhook(url, { description: 'd', tools: ['weather'] })
  const { webhook: changed, secret } = await changeWebhook({ vault, rules }, owner, webhook.id, {
    url: `${url}?token=abc`,
    topics: ['trip'],
  })
  assert.equal(secret, undefined)
  assert.deepEqual(
    { ...changed, updated_at: 0 },
    { ...webhook, url: `${url}?token=abc`, topics: ['trip'], updated_at: 0 },
  )
  assert.ok(changed.updated_at > webhook.updated_at)
  await deleteWebhook(vault, owner, webhook.id)
  const { rows } = await pool.query(
    "select action, target, detail, actor from audit where action like 'webhook.%' order by id",
  )
  const common = { target: `webhook:${webhook.id}`, actor: `key:${ground.key.id}` }
  assert.deepEqual(rows, [
    {
      action: 'webhook.create',
      detail: { events: ['invocation.finished'], tools: ['weather'], topics: null, enabled: true },
      ...common,
    },
    { action: 'webhook.change', detail: { url: 'changed', topics: ['trip'] }, ...common },
    { action: 'webhook.delete', detail: {}, ...common },
  ])
})

test('with a webhook its secrets go', async () => {
  const { webhook } = await ground.addWebhook(url)
  const holder = `webhook:${webhook.id}`
  for (let n = 0; n < 4; n++)
    await changeWebhook({ vault, rules }, owner, webhook.id, { rotate_secret: true })
  const stored = async () =>
    (await pool.query('select key from vault_settings where tool = $1 order by key', [holder])).rows
  assert.deepEqual(await stored(), [{ key: 'secret_3' }, { key: 'secret_4' }, { key: 'secret_5' }])
  await deleteWebhook(vault, operator, webhook.id)
  assert.deepEqual(await stored(), [])
  const keys = await pool.query('select from vault_data_keys where tool = $1', [holder])
  assert.equal(keys.rowCount, 0)
})

test('a disabling of a webhook for which very much waits is done at once', async () => {
  const { webhook } = await ground.addWebhook(url)
  await pool.query(
    `insert into deliveries (id, webhook_id, key_id, receiver, event, invocation_id, tool, topic)
     select 'msg_' || lpad(n::text, 33, '0'), $1, $2, md5($1), 'invocation.finished', 'inv_' || n, 'weather', 'trip'
     from generate_series(1, 12000) as n`,
    [webhook.id, ground.key.id],
  )
  await transaction(pool, async (sql) => {
    // Whoever has locked one of them does not hold up the disabling.
    await sql.query('select from deliveries order by id limit 1 for update')
    await changeWebhook({ vault, rules }, owner, webhook.id, { enabled: false })
  })
  const { rows } = await pool.query(
    "select count(*) filter (where status = 'dropped')::int as dropped, count(*) filter (where status = 'waiting')::int as rest from deliveries",
  )
  assert.deepEqual(rows, [{ dropped: 10_000, rest: 2_000 }])
})
