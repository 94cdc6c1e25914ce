import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHookParam } from './hook-param.ts'

const receivedAt = new Date(1_700_000_000_000)

const read = (type: string, body: Buffer | string, names: string[] = []) =>
  toHookParam(
    { headers: new Headers({ 'content-type': type }), body: Buffer.from(body), eventId: 'e-1', receivedAt },
    names,
  )

const bodyOf = (type: string, body: Buffer | string) => {
  const param = read(type, body)
  return [param['body_encoding'], param['body']]
}

test('the chosen headers are handed over as far as they were sent, and no other', () => {
  const headers = new Headers({ 'X-Event': 'push', cookie: 'c', 'x-other': 'o' })
  headers.append('x-many', 'a')
  headers.append('x-many', 'b')
  const message = { headers, body: Buffer.from('x'), eventId: undefined, receivedAt }
  assert.deepEqual(toHookParam(message, ['x-event', 'x-many', 'content-type']), {
    headers: { 'x-event': 'push', 'x-many': 'a, b' },
    body: 'x',
    body_encoding: 'text',
    event_id: null,
    received_at: '2023-11-14T22:13:20.000Z',
  })
})

test('a body of JSON is parsed', () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON ;x=y',
    'text/json',
    'application/cloudevents+json',
    'application/vnd.a.b-c+json; v=1',
  ]) {
    assert.deepEqual(bodyOf(type, '{"a":[1,"ü",null]}'), ['json', { a: [1, 'ü', null] }], type)
  }
  for (const value of [null, 0, false, '', [], {}]) {
    assert.deepEqual(bodyOf('application/json', JSON.stringify(value)), ['json', value])
  }
})

test('a body of another type, or that is not JSON, stays the text it is', () => {
  for (const [type, body] of [
    ['', '{}'],
    ['text/plain', '{}'],
    ['application/jsonp', '{}'],
    ['application/x-www-form-urlencoded', 'a=1&b=%20'],
    ['application/json', ''],
    ['application/json', '{"a":'],
    ['application/json', '\ufeff{}'],
    ['application/json', 'nothing\0'],
  ] as const) {
    assert.deepEqual(bodyOf(type, body), ['text', body], `${type} ${body}`)
  }
})

test('JSON that could not be handed on without a change stays a text', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  for (const body of [
    '{"__proto__":{"a":1}}',
    '[1e999]',
    '["\\u0000"]',
    '["\\ud800"]',
    '{"\\udc00":1}',
    deep(66),
    deep(250_000),
  ]) {
    assert.deepEqual(bodyOf('application/json', body), ['text', body], body.slice(0, 40))
  }
  assert.equal(bodyOf('application/json', deep(64))[0], 'json')
})

test('what is no UTF-8 is base64, whatever it is called', () => {
  for (const bytes of [Buffer.from([0xff, 0x00, 0x80]), Buffer.from('"\xfc"', 'latin1')]) {
    for (const type of ['application/json', 'application/octet-stream', 'text/plain; charset=latin1']) {
      assert.deepEqual(bodyOf(type, bytes), ['base64', bytes.toString('base64')])
    }
  }
})
