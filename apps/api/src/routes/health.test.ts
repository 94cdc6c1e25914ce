import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { refusalOf } from '../fixtures/answers.ts'
import { head, rawExchange } from '../fixtures/raw-exchange.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const viewer = await makeKey(pool, { scopes: ['ops:view'] })

test('healthz says that the process lives, to anybody', async () => {
  const answer = await fetch(`${url}/healthz`)
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), { status: 'alive' })
})

test('healthz also answers a load balancer that speaks HTTP/1.0 without a Host', async () => {
  assert.match(await rawExchange(url, 'GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /)
})

test('metrics are for keys with ops:view', async () => {
  assert.equal(await refusalOf(await fetch(`${url}/metrics`)), '401 unauthenticated')
  const { token } = await makeKey(pool)
  assert.equal(
    await refusalOf(await fetch(`${url}/metrics`, { headers: bearer(token) })),
    '403 missing_scope',
  )
  const answer = await fetch(`${url}/metrics`, { headers: bearer(viewer.token) })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
})

test('whatever callers ask for, the series do not grow', async () => {
  const seriesOf = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers: bearer(viewer.token) })).text()
    return text.split('\n').filter((line) => line.startsWith('toolyard_http_requests_total{'))
  }
  await fetch(`${url}/keys/first`, { headers: bearer(viewer.token) })
  await fetch(`${url}/nothing`)
  await rawExchange(url, head('PURGE /x HTTP/1.1', 'Connection: close'))
  await seriesOf()
  const before = await seriesOf()
  for (let i = 0; i < 30; i++) {
    await fetch(`${url}/keys/key-${i}`, { headers: bearer(viewer.token) })
    await fetch(`${url}/path-${i}?query=${i}`)
  }
  for (const method of ['PURGE', 'MKCOL', 'SEARCH', 'LINK', 'M-SEARCH', 'REPORT']) {
    await rawExchange(url, head(`${method} /x HTTP/1.1`, 'Connection: close'))
  }
  const after = await seriesOf()
  const labelsOf = (lines: string[]) => lines.map((line) => line.replace(/\} \d+$/, '}')).toSorted()
  assert.deepEqual(labelsOf(after), labelsOf(before))
  assert.ok(after.some((line) => line.includes('method="other"') && line.includes('route="/*"')))
  assert.ok(after.some((line) => line.includes('route="/keys/:id"')))
  assert.doesNotMatch(after.join(), /key-|path-|PURGE/)
})
