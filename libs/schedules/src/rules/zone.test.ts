import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Span } from './spans-of.ts'
import { findZone } from './zone.ts'

function changesOf(name: string, fromYear: number, toYear: number): [number, number][] {
  const zone = findZone(name)
  assert.ok(zone)
  const changes: [number, number][] = []
  for (let at = Date.UTC(fromYear, 0, 1); at < Date.UTC(toYear, 0, 1); at = zone.spanAt(at).toMs) {
    const span: Span = zone.spanAt(at)
    assert.equal(span.fromMs, at)
    if (span.offsetMs !== span.offsetBeforeMs) changes.push([at, span.offsetMs / 60_000])
  }
  return changes
}

const told = (name: string, fromYear: number, toYear: number) =>
  changesOf(name, fromYear, toYear).map(([at, minutes]) => [new Date(at).toISOString().slice(0, 16), minutes])

test('the changes of a clock, as the time zone database has them', () => {
  assert.deepEqual(told('Europe/London', 2026, 2027), [
    ['2026-03-29T01:00', 60],
    ['2026-10-25T01:00', 0],
  ])
  assert.deepEqual(told('Antarctica/Troll', 2026, 2027), [
    ['2026-03-29T01:00', 120],
    ['2026-10-25T01:00', 0],
  ])
  assert.deepEqual(told('Asia/Tehran', 2022, 2026), [
    ['2022-03-21T20:30', 270],
    ['2022-09-21T19:30', 210],
  ])
  // Ramadan.
  assert.deepEqual(told('Africa/Casablanca', 2017, 2018), [
    ['2017-03-26T02:00', 60],
    ['2017-05-21T02:00', 0],
    ['2017-07-02T02:00', 60],
    ['2017-10-29T02:00', 0],
  ])
  assert.deepEqual(told('Africa/Cairo', 2010, 2011), [
    ['2010-04-29T22:00', 180],
    ['2010-08-10T21:00', 120],
    ['2010-09-09T22:00', 180],
    ['2010-09-30T21:00', 120],
  ])
  assert.deepEqual(told('Pacific/Apia', 2011, 2012), [
    ['2011-04-02T14:00', -660],
    ['2011-09-24T14:00', -600],
    ['2011-12-30T10:00', 840],
  ])
  assert.deepEqual(told('UTC', 2000, 2050), [])
  assert.deepEqual(told('Asia/Kolkata', 2000, 2050), [])
})

test('changes at the turn of a year, of few days and of seconds', () => {
  assert.deepEqual(told('Asia/Dhaka', 2009, 2011).at(-1), ['2009-12-31T17:00', 360])
  assert.deepEqual(told('Pacific/Kiritimati', 1994, 1996), [['1994-12-31T10:00', 840]])
  assert.deepEqual(told('America/Danmarkshavn', 1995, 1997).at(-1), ['1996-01-01T03:00', 0])
  assert.deepEqual(told('America/Boa_Vista', 2000, 2001), [
    ['2000-02-27T03:00', -240],
    ['2000-10-08T04:00', -180],
    ['2000-10-15T03:00', -240],
  ])
  assert.deepEqual(told('Africa/Monrovia', 1972, 1973), [['1972-01-07T00:44', 0]])
})

test('a zone is one, however it is written', () => {
  assert.equal(findZone('europe/malta'), findZone('Europe/Malta'))
  assert.equal(findZone('Mars/Base'), undefined)
  assert.equal(findZone('+05:30')?.spanAt(0).offsetMs, 330 * 60_000)
})
