import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillTelemetry, givenTelemetry } from './telemetry.ts'

const unknown = { lat: null, lon: null, city: null, country: null, time: null, locale: null, language: null }

test('a tool finds all seven, null where unknown', () => {
  assert.deepEqual(fillTelemetry(), unknown)
  assert.deepEqual(fillTelemetry({ city: 'Valletta', lat: 0 }), { ...unknown, city: 'Valletta', lat: 0 })
})

test('what clients send of themselves is taken', () => {
  const given = {
    lat: 35.8762,
    lon: 14.5366,
    city: 'Valletta',
    country: 'Malta',
    time: '2026-02-20T16:54:01Z',
    locale: 'en-MT',
    language: 'en-US',
  }
  assert.deepEqual(givenTelemetry.parse(given), given)
  assert.deepEqual(givenTelemetry.parse(unknown), unknown)
  assert.deepEqual(givenTelemetry.parse({}), {})
})

test('what is out of range, too long or not known is refused', () => {
  for (const given of [
    { lat: 90.1 },
    { lon: -181 },
    { lat: '35' },
    { lat: Number.NaN },
    { city: 'x'.repeat(101) },
    { city: 'a\nb' },
    { country: '\u202e' },
    { time: 'now' },
    { time: '2026-02-20' },
    { locale: 'en MT' },
    { language: 'x'.repeat(36) },
    { device: 'phone' },
    [],
    null,
  ])
    assert.ok(!givenTelemetry.safeParse(given).success, JSON.stringify(given))
})
