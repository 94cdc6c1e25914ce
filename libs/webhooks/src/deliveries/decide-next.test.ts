import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideNext, triesMax } from './decide-next.ts'

const now = new Date('2026-03-01T12:00:00Z')
const failed = { status: 500 }
const afterMs = (tries: number, random: number, retryAfter?: string) => {
  const next = decideNext({ ...failed, retryAfter }, tries, now, random)
  assert.ok(next.kind === 'again')
  return next.afterMs
}

test('there are ten tries in about three days, and each pause is longer than the one before', () => {
  assert.equal(triesMax, 10)
  const pauses = Array.from({ length: 9 }, (_, n) => afterMs(n + 1, 0.5))
  assert.deepEqual(
    pauses,
    pauses.toSorted((a, b) => a - b),
  )
  const days = pauses.reduce((sum, ms) => sum + ms, 0) / 86_400_000
  assert.ok(days > 2.9 && days < 3.1, String(days))
  assert.deepEqual(decideNext(failed, 10, now, 0.5), { kind: 'dead' })
  // One that was sent by hand after its last.
  assert.deepEqual(decideNext(failed, 11, now, 0.5), { kind: 'dead' })
})

test('a pause is a fifth shorter or longer by chance, and the first is never under four seconds', () => {
  for (let tries = 1; tries < 10; tries++) {
    const middle = afterMs(tries, 0.5)
    assert.equal(afterMs(tries, 0), Math.round(middle * 0.8))
    assert.equal(afterMs(tries, 1), Math.round(middle * 1.2))
  }
  assert.equal(afterMs(1, 0), 4_000)
})

for (const [what, outcome, kind] of [
  ['200', { status: 200 }, 'delivered'],
  ['204', { status: 204 }, 'delivered'],
  ['299', { status: 299 }, 'delivered'],
  ['no answer', {}, 'again'],
  ['101', { status: 101 }, 'again'],
  ['199', { status: 199 }, 'again'],
  ['300', { status: 300 }, 'again'],
  ['301', { status: 301 }, 'again'],
  ['304', { status: 304 }, 'again'],
  ['400', { status: 400 }, 'again'],
  ['401', { status: 401 }, 'again'],
  ['404', { status: 404 }, 'again'],
  ['409', { status: 409 }, 'again'],
  ['410', { status: 410 }, 'gone'],
  ['429', { status: 429 }, 'again'],
  ['500', { status: 500 }, 'again'],
  ['599', { status: 599 }, 'again'],
  ['0', { status: 0 }, 'again'],
] as const)
  test(`after ${what}: ${kind}`, () => {
    assert.equal(decideNext(outcome, 1, now, 0.5).kind, kind)
    assert.equal(decideNext(outcome, 10, now, 0.5).kind, kind === 'again' ? 'dead' : kind)
  })

for (const [what, retryAfter, seconds] of [
  ['seconds', '120', 120],
  ['seconds with blanks', ' 120 ', 120],
  ['less than our own pause', '1', 5],
  ['no time at all', '0', 5],
  ['more than a day', '9999999', 86_400],
  ['a number that is none any more', '9'.repeat(30), 5],
  ['a negative number', '-120', 5],
  ['a fraction', '120.5', 5],
  ['a word', 'tomorrow', 5],
  ['nothing', '', 5],
  ['a number in another base', '0x78', 5],
  ['a date', 'Sun, 01 Mar 2026 12:10:00 GMT', 600],
  ['a date that is past', 'Sun, 01 Mar 2026 11:00:00 GMT', 5],
  ['a date far ahead', 'Sat, 01 Mar 2036 12:00:00 GMT', 86_400],
  ['a day that is none', 'Sun, 99 Mar 2026 12:10:00 GMT', 5],
  ['a date without its zone', 'Sun, 01 Mar 2026 12:10:00', 5],
  ['a date in ISO', '2026-03-01T12:10:00Z', 5],
] as const)
  test(`a Retry-After of ${what} asks for ${seconds} s`, () => {
    assert.equal(afterMs(1, 0.5, retryAfter), seconds * 1_000)
  })

test('a Retry-After shortens no pause, and gives no try more', () => {
  assert.equal(afterMs(9, 0.5, '120'), 36 * 3_600_000)
  assert.deepEqual(decideNext({ status: 429, retryAfter: '120' }, 10, now, 0.5), { kind: 'dead' })
})
