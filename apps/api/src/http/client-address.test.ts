import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { head, rawExchange } from '../fixtures/raw-exchange.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, unknownToken } from '../fixtures/test-keys.ts'

const { url: databaseUrl } = await testDatabase()
const peer = '127.0.0.1'

const behind = await Promise.all([0, 1, 2].map((trustedProxies) => testApi({ databaseUrl, trustedProxies })))

async function addressSeen(trustedProxies: number, lines: string[]): Promise<unknown> {
  const api = behind[trustedProxies]
  assert(api)
  const count = api.events().length
  await rawExchange(api.url, head('GET /healthz HTTP/1.1', 'Connection: close', ...lines))
  return (await waitUntil('the event', () => api.events()[count]))['address']
}

const forwarded = (...entries: string[]) => entries.map((entry) => `X-Forwarded-For: ${entry}`)

test('without proxies the header means nothing', async () => {
  for (const lines of [[], forwarded('192.0.2.1'), forwarded('192.0.2.1, 198.51.100.1')]) {
    assert.equal(await addressSeen(0, lines), peer)
  }
})

test('behind one proxy the last entry counts, and what the caller wrote before it does not', async () => {
  assert.equal(await addressSeen(1, forwarded('192.0.2.1')), '192.0.2.1')
  assert.equal(await addressSeen(1, forwarded('203.0.113.9, 192.0.2.1')), '192.0.2.1')
  assert.equal(await addressSeen(1, forwarded('203.0.113.9', '192.0.2.1')), '192.0.2.1', 'in two headers')
  assert.equal(await addressSeen(1, forwarded('203.0.113.9,2001:db8::7')), '2001:db8::7')
})

test('behind two proxies the last but one counts', async () => {
  assert.equal(await addressSeen(2, forwarded('203.0.113.9, 192.0.2.1, 198.51.100.1')), '192.0.2.1')
})

test('what is missing or is no address falls back to the peer', async () => {
  for (const entries of [
    '',
    ',',
    ' , ',
    'unknown',
    '192.0.2.1:4711',
    '192.0.2.256',
    '<script>',
    '192.0.2.1,',
  ]) {
    assert.equal(await addressSeen(1, forwarded(entries)), peer, entries)
  }
  assert.equal(await addressSeen(1, []), peer)
  assert.equal(await addressSeen(2, forwarded('192.0.2.1')), peer, 'one proxy has been passed by')
})

test('wrong keys are counted against the caller, not against the proxy, and cannot be spread by spoofing', async () => {
  const url = behind[1]?.url
  const attempt = async (n: number, chain: string) => {
    const headers = { ...bearer(unknownToken(n)), 'x-forwarded-for': chain }
    return (await fetch(`${url}/keys`, { headers })).status
  }
  const statuses: number[] = []
  for (let n = 0; n < 25; n++) statuses.push(await attempt(n, `203.0.113.${n}, 192.0.2.66`))
  assert.deepEqual(statuses.slice(20), [429, 429, 429, 429, 429])
  assert.equal(await attempt(99, '192.0.2.66, 192.0.2.67'), 401)
})
