import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { scopes } from '@toolyard/contract/scopes'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })
const secretive = { config_schema: { api_key: { secret: true, required: true } } }
const listed = newManifest('listed', { parameters: { items: { type: 'array' }, text: { type: 'string' } } })
await publishTools(pool, [
  listed,
  newManifest('secretive', secretive),
  newManifest('going'),
  newManifest('defaulted'),
])
for (const name of ['listed', 'secretive', 'going', 'defaulted']) await buildTool(pool, name)

const invocation = invocationShape.strict()

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, {
    method,
    headers: {
      ...bearer(admin.token),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

test('no text and no number in a body is a fault of ours', async () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  for (const [body, status] of [
    [{ params: { text: 'a\0b \ud800' } }, [202, 422]],
    [{ params: {}, metadata: { 'a\0b': '\0\ud800' } }, [202, 422]],
    [{ params: {}, search_id: 'a\0b' }, [422]],
    [{ params: {}, search_id: '\ud800' }, [422]],
    [{ params: {}, topic: 'a\0b' }, [422]],
    [{ params: {}, telemetry: { city: '\0' } }, [202, 422]],
    [{ params: {}, delay_ms: 2_592_000_000, ttl_ms: 604_800_000 }, [202]],
    [{ params: {}, delay_ms: 2_592_000_001 }, [422]],
    [{ params: {}, ttl_ms: 1e308 }, [422]],
    ['{"params": {}, "ttl_ms": 1e999}', [422]],
    ['{"params": {"__proto__": 1}}', [202, 422]],
    ['{"params": {}, "metadata": {"__proto__": {"a": 1}}}', [202, 422]],
    [`{"params": {"items": ${deep(20_000)}}}`, [413, 422]],
    [`{"params": {"items": ${deep(2_000_000)}}}`, [413, 422]],
    [`{"params": {}, "metadata": {"a": ${deep(2_000)}}}`, [202, 422]],
    [`{"params": {}, "metadata": {"a": ${deep(400_000)}}}`, [413]],
  ] as const) {
    const answer = await call('POST', '/tools/listed/invoke', body)
    const shown = JSON.stringify(body).slice(0, 60)
    assert.ok(
      status.some((each) => each === answer.status),
      `${shown}: ${answer.status}`,
    )
  }
})

test('an invocation that was accepted is answered again by its key, whatever has become of its tool', async () => {
  await call('PUT', '/tools/secretive/config', { api_key: 'k-12345678' })
  const body = { params: { zeta: 'x' } }
  const again = (tool: string) =>
    call('POST', `/tools/${tool}/invoke`, body, { 'idempotency-key': `of-${tool}` })
  const first = await bodyOf(await again('secretive'), invocation)
  await call('DELETE', '/tools/secretive/config/api_key')
  assert.equal(await refusalOf(await call('POST', '/tools/secretive/invoke', body)), '409 not_configured')
  const replayed = await again('secretive')
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
  assert.equal((await bodyOf(replayed, invocation)).id, first.id)

  const second = await bodyOf(await again('going'), invocation)
  await pool.query("update tools set removed_at = now() where name = 'going'")
  await pool.query('update catalog_state set epoch = epoch + 1')
  assert.equal((await bodyOf(await again('going'), invocation)).id, second.id)
  const other = await call('POST', '/tools/going/invoke', {}, { 'idempotency-key': 'of-going' })
  assert.equal(await refusalOf(other), '404 unknown_tool')
  const deep = `{"params": {"zeta": ${'['.repeat(90_000)}${']'.repeat(90_000)}}}`
  const refused = await call('POST', '/tools/listed/invoke', deep, { 'idempotency-key': 'deep' })
  assert.equal(await refusalOf(refused), '422 invalid_params')
  await pool.query("update tools set removed_at = null where name = 'going'")
  await pool.query('update catalog_state set epoch = epoch + 1')
})

test('what is run again is held to the settings and takes the defaults of the tool as it is now', async () => {
  await call('PUT', '/tools/secretive/config', { api_key: 'k-12345678' })
  const body = { params: { zeta: 'x' } }
  const { id } = await bodyOf(await call('POST', '/tools/secretive/invoke', body), invocation)
  await call('DELETE', '/tools/secretive/config/api_key')
  for (const version of ['newest', 'same'])
    assert.equal(
      await refusalOf(await call('POST', `/invocations/${id}/replay`, { version })),
      '409 not_configured',
      version,
    )

  const before = await bodyOf(await call('POST', '/tools/defaulted/invoke', body), invocation)
  const parameters = { zeta: { type: 'string' }, unit: { type: 'string', default: 'metre' } }
  await pool.query(
    "update tool_versions set manifest = (manifest::jsonb || jsonb_build_object('parameters', $1::jsonb))::json where tool = 'defaulted'",
    [JSON.stringify(parameters)],
  )
  const fresh = await testApi({ databaseUrl })
  const answer = await fetch(`${fresh.url}/invocations/${before.id}/replay`, {
    method: 'POST',
    headers: bearer(admin.token),
  })
  const { id: replayed } = await bodyOf(answer, invocation)
  const { rows } = await pool.query('select params from invocation_inputs where id = $1', [replayed])
  assert.deepEqual(rows, [{ params: { zeta: 'x', unit: 'metre' } }])
})

test('what breaks on our side for one of a batch leaves the others their answers', async () => {
  await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken' using errcode = '23514'; end $$;
    create trigger refuse before insert on invocations for each row when (new.tool = 'going') execute function refuse()`)
  const params = { zeta: 'x' }
  const shape = z.object({
    invocations: z.array(
      z.looseObject({ status: z.int(), problem: z.looseObject({ code: z.string() }).optional() }),
    ),
  })
  const batch = {
    invocations: [
      { tool: 'defaulted', params },
      { tool: 'going', params },
      { tool: 'defaulted', params },
    ],
  }
  const answer = await call('POST', '/invocations/batch', batch)
  const { invocations } = await bodyOf(answer, shape)
  assert.deepEqual(
    invocations.map(({ status, problem }) => [status, problem?.code]),
    [
      [202, undefined],
      [500, 'internal'],
      [202, undefined],
    ],
  )
  assert.match(api.logText(), /broken/, 'an operator is told')
  assert.ok(!JSON.stringify(invocations).includes('broken'), 'a caller is not')
})
