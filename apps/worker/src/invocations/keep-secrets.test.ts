import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getRaw } from '@toolyard/invocations/get-raw'
import { putSettings } from '@toolyard/vault/put-settings'
import { openGround, operator } from './fixtures/ground.ts'

const ground = await openGround('redis')
const canary = 'canary-5ecret-of-the-tool'
const schema = { api_key: { secret: true, required: true } } as const

async function makeKeyed(name: string, value = canary) {
  await ground.makeTool(name, { manifest: { config_schema: schema } })
  const call = { actor: operator, requestId: 'req_1' }
  await putSettings(ground.vault, call, {
    tool: name,
    schema: { api_key: schema.api_key },
    values: { api_key: value },
  })
}

/** All that is stored of a call, as one text. */
async function stored(id: string): Promise<string> {
  const raw = await getRaw(ground.pool, operator, id)
  const rows = await Promise.all(
    ['invocations', 'invocation_inputs', 'invocation_outcomes'].map((table) =>
      ground.pool.query(`select * from ${table} where id = $1`, [id]),
    ),
  )
  const words = rows.flatMap((found) => found.rows.map((row) => JSON.stringify(row)))
  return [...words, String(raw?.stdout), String(raw?.stderrTail)].join('\n')
}

test('a secret that a tool tells comes back as ***, wherever it stood (I6)', async (t) => {
  await makeKeyed('leaky')
  await ground.start(t)
  const id = await ground.submit('leaky', { do: 'leak' })
  const one = await ground.final(id)
  const { text, title, html, data } = one.result ?? {}
  assert.deepEqual([text, title, html, data], ['key ***', '***', '<p>***</p>', { '***': ['***'] }])
  const raw = await getRaw(ground.pool, operator, id)
  assert.equal(String(raw?.stderrTail), 'the key is ***\n')
  assert.equal(JSON.parse(String(raw?.stdout)).text, 'key ***')
  assert.ok(!(await stored(id)).includes(canary))
})

test('a secret that a limit cuts in two leaves neither half', async (t) => {
  await makeKeyed('cutting')
  await ground.start(t)
  // The message is cut at 2,000 characters, and of stderr the last 8 KiB are kept: each cut falls into the key.
  const message = await ground.submit('cutting', { do: 'blurt', arg: 'x'.repeat(1_990) })
  const tail = await ground.submit('cutting', {
    do: 'die',
    arg: `${canary}${'y'.repeat(8_170 - canary.length)}`,
  })
  for (const id of [message, tail]) {
    const one = await ground.final(id)
    assert.equal(one.status, 'failed')
    const all = await stored(id)
    const params = JSON.stringify(
      (await ground.pool.query('select params from invocation_inputs where id = $1', [id])).rows[0],
    )
    const told = all.replace(params.slice(0, -1), '')
    assert.ok(!JSON.stringify(one.failure).includes(canary.slice(0, 6)), JSON.stringify(one.failure))
    assert.ok(!told.split('\n').slice(2).join('\n').includes(canary.slice(-6)), told.slice(-300))
  }
})

test('what the log says of a call that fails with its secret does not hold it', async (t) => {
  await makeKeyed('noisy')
  await ground.start(t)
  const id = await ground.submit('noisy', { do: 'blurt', arg: 'the key ' })
  const { failure } = await ground.final(id)
  assert.deepEqual([failure?.kind, failure?.message], ['tool_error', 'the key *** refused'])
  assert.ok(!ground.lines.join('').includes(canary))
})

test('a changed setting is what the next run gets', async (t) => {
  await makeKeyed('fresh')
  await ground.start(t)
  await makeKeyed('fresh', 'another-5ecret')
  const id = await ground.submit('fresh', { do: 'leak' })
  assert.equal((await ground.final(id)).result?.text, 'key ***')
  assert.ok(!(await stored(id)).includes('another-5ecret'))
})
