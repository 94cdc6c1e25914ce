import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { answer, startReceiver } from '../../fixtures/receiver.ts'
import { findCallbackSecret, renewCallbackSecret } from './callback-secret.ts'
import { changeWebhook } from './change-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { makeSecret, ofWebhook, readSigners } from './signing-secrets.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)
const url = 'http://127.0.0.1:9/in'

beforeEach(() => ground.clear())

test('who rotates at the same time gets secrets of their own, and all of them sign', async () => {
  const { webhook } = await ground.addWebhook(url)
  const rotate = async () =>
    (await changeWebhook({ vault, rules }, owner, webhook.id, { rotate_secret: true })).secret ?? ''
  const secrets = await Promise.all([rotate(), rotate()])
  assert.equal(new Set(secrets).size, 2)
  const { secrets: signers } = await readSigners(vault, {
    holder: ofWebhook(webhook.id),
    no: 3,
    isOverlapping: true,
  })
  assert.equal(signers.length, 3)
  for (const secret of secrets) assert.ok(signers.includes(secret))
})

test('a number whose secret was never stored leaves the one before to sign', async () => {
  const holder = ofWebhook('whk_x')
  const first = await makeSecret(vault, owner, { holder, no: 1 })
  const at = (no: number) => readSigners(vault, { holder, no, isOverlapping: false })
  assert.deepEqual(await at(1), { secrets: [first], isNewest: true })
  assert.deepEqual(await at(5), { secrets: [first], isNewest: false })
  const sixth = await makeSecret(vault, owner, { holder, no: 6 })
  assert.deepEqual(await at(6), { secrets: [sixth], isNewest: true })
  assert.deepEqual(await readSigners(vault, { holder, no: 6, isOverlapping: true }), {
    secrets: [sixth, first],
    isNewest: true,
  })
  assert.deepEqual(await at(20), { secrets: [], isNewest: false })
})

test("a callback secret is the key's own; a first one that cannot be stored does not count", async () => {
  const [a, b] = [callBy(await ground.makeKey()), callBy(await ground.makeKey())]
  const none = { exists: false, rotatedUntil: null }
  assert.deepEqual(await findCallbackSecret(pool, a.actor), none)
  const { masterKeys } = vault
  const unknown = { ...vault, masterKeys: { ...masterKeys, current: { ...masterKeys.current, id: 'k9' } } }
  await assert.rejects(renewCallbackSecret(unknown, a), /another master key/)
  assert.deepEqual(await findCallbackSecret(pool, a.actor), none)
  const made = await renewCallbackSecret(vault, a)
  assert.deepEqual(await findCallbackSecret(pool, a.actor), { exists: true, rotatedUntil: null })
  assert.equal(made.rotatedUntil, null)
  assert.deepEqual(await findCallbackSecret(pool, b.actor), none)
  const again = await renewCallbackSecret(vault, a)
  assert.notEqual(again.secret, made.secret)
  const hours = ((again.rotatedUntil?.getTime() ?? 0) - Date.now()) / 3_600_000
  assert.ok(hours > 23.9 && hours < 24.1)
})

test('a secret is nowhere in clear: in no row, no audit, no log and no error', async (t) => {
  ground.lines.length = 0
  const receiver = await startReceiver(t, answer(500, {}, 'no'))
  const { webhook, secret } = await ground.addWebhook(receiver.url)
  const secrets = [secret]
  const rotated = await changeWebhook({ vault, rules }, owner, webhook.id, { rotate_secret: true })
  secrets.push(rotated.secret ?? '')
  secrets.push((await renewCallbackSecret(vault, owner)).secret)
  await ground.deliver(await ground.endOneFor(webhook))
  await assert.rejects(changeWebhook({ vault, rules }, owner, webhook.id, { url: 'x' }), (error) => {
    assert.ok(error instanceof Error)
    ground.lines.push(String(error.stack))
    return true
  })
  await deleteWebhook(vault, owner, webhook.id)
  const { rows: tables } = await pool.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  )
  assert.ok(tables.length > 10)
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select one::text as text from ${name} as one`)
    ground.lines.push(...rows.map(({ text }) => text))
  }
  const all = ground.lines.join('\n')
  assert.match(all, new RegExp(webhook.id))
  for (const one of secrets) {
    assert.ok(one.length > 40)
    const bytes = Buffer.from(one.slice(6), 'base64')
    for (const form of [
      one,
      one.slice(6),
      one.slice(6, -1),
      bytes.toString('hex'),
      bytes.toString('base64url'),
    ])
      assert.ok(!all.includes(form))
  }
})
