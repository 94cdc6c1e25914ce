import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { Json } from './parameters.ts'
import type { PayloadInput, PayloadPart } from './payload.ts'
import { argumentBytesMax, checkPart, encodePayload, partBytesMax } from './payload.ts'
import { fillTelemetry, givenTelemetry } from './telemetry.ts'

const telemetry = fillTelemetry()

/** An object whose JSON has exactly so many bytes. */
const filled = (bytes: number): Record<string, Json> => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) })

test('a tool is handed base64 of its three parts', () => {
  const encoded = encodePayload({ params: { a: 'ü' }, settings: { b: 1 }, telemetry }, 'argument')
  assert.ok('payload' in encoded)
  assert.match(encoded.payload, /^[A-Za-z0-9+/]+=*$/)
  assert.deepEqual(JSON.parse(Buffer.from(encoded.payload, 'base64').toString()), {
    params: { a: 'ü' },
    settings: { b: 1 },
    telemetry,
  })
})

test('a part of its greatest size is taken, one byte more is not', () => {
  for (const input of ['argument', 'stdin'] as const satisfies PayloadInput[]) {
    for (const part of ['params', 'settings', 'telemetry', '_state'] as const satisfies PayloadPart[]) {
      const bytesMax = partBytesMax[input][part]
      assert.equal(checkPart(part, filled(bytesMax), input), undefined)
      assert.deepEqual(checkPart(part, filled(bytesMax + 1), input), {
        kind: 'payload_too_large',
        part,
        bytes: bytesMax + 1,
        bytesMax,
      })
    }
  }
  assert.equal(checkPart('params', { k: 'ü'.repeat(31_000) }, 'argument')?.bytes, 62_008)
})

/** All parts as large as they may be, `_state` within params as it travels. */
function largest(input: PayloadInput) {
  const bytes = partBytesMax[input]
  const given = { ...fillTelemetry(), city: '' }
  const padding = 'x'.repeat(bytes.telemetry - JSON.stringify(given).length)
  return {
    params: { ...filled(bytes.params), _state: filled(bytes._state) },
    settings: filled(bytes.settings),
    telemetry: { ...given, city: padding },
  }
}

test('the largest parts together fit one argument of a Linux process (measured by starting one)', () => {
  const encoded = encodePayload(largest('argument'), 'argument')
  assert.ok('payload' in encoded && encoded.payload.length <= argumentBytesMax)
  const echo = (argument: string) =>
    execFileSync(process.execPath, ['-e', 'process.stdout.write(String(process.argv[1].length))', argument])
  assert.equal(echo(encoded.payload).toString(), String(encoded.payload.length))
  assert.equal(echo('x'.repeat(argumentBytesMax)).toString(), String(argumentBytesMax))
  assert.throws(() => echo('x'.repeat(argumentBytesMax + 1)), /E2BIG/)
})

test('the largest parts together fit stdin', () => {
  assert.ok('payload' in encodePayload(largest('stdin'), 'stdin'))
})

test('the last guard refuses what no part should have let through', () => {
  const over = encodePayload({ params: filled(100_000), settings: {}, telemetry }, 'argument')
  assert.ok('kind' in over)
  assert.deepEqual([over.kind, over.part, over.bytesMax], ['payload_too_large', 'payload', argumentBytesMax])
  assert.ok('kind' in encodePayload({ params: filled(5 * 2 ** 20), settings: {}, telemetry }, 'stdin'))
})

test('telemetry that callers may send always fits its part', () => {
  const most = givenTelemetry.parse({
    lat: -12.345678901234567,
    lon: -123.45678901234567,
    city: '\u{1f600}'.repeat(50),
    country: '"'.repeat(100),
    time: '2031-05-17T08:00:00.123456789+02:00',
    locale: 'a'.repeat(35),
    language: 'a'.repeat(35),
  })
  assert.equal(checkPart('telemetry', fillTelemetry(most), 'argument'), undefined)
})
