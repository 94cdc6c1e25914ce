import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someTool } from './fixtures/some-tool.ts'
import { preparePayload } from './prepare-payload.ts'

const time = '2026-01-01T00:00:00.000Z'
const config_schema = {
  token: { secret: true, required: true },
  city: { default: 'Turin' },
  region: { required: true, default: 'eu' },
}

test('the first example is tried with the defaults of the settings, and what is missing is named', () => {
  const prepared = preparePayload(someTool({ config_schema }).manifest, { settings: {}, time })
  assert(prepared.kind === 'prepared')
  const { params, settings, telemetry } = JSON.parse(Buffer.from(prepared.payload, 'base64').toString())
  assert.deepEqual(params, { name: 'Ada' })
  assert.deepEqual(settings, { city: 'Turin', region: 'eu' })
  assert.equal(telemetry.time, time)
  assert.equal(telemetry.city, null)
  assert.deepEqual([prepared.missing, prepared.secrets], [['token'], []])
})

test('given settings go over the defaults, and the secret ones are known as such', () => {
  const settings = { token: 'hunter22', city: 'Oslo' }
  const prepared = preparePayload(someTool({ config_schema }).manifest, {
    params: { name: 'Bo' },
    settings,
    time,
  })
  assert(prepared.kind === 'prepared')
  const payload = JSON.parse(Buffer.from(prepared.payload, 'base64').toString())
  assert.deepEqual(payload.settings, { token: 'hunter22', city: 'Oslo', region: 'eu' })
  assert.deepEqual([prepared.params, prepared.missing, prepared.secrets], [{ name: 'Bo' }, [], ['hunter22']])
})

test('all that does not fit is told at once', () => {
  const given = { params: { nam: 1 }, settings: { constructor: 1, tokn: 'x' }, time }
  const prepared = preparePayload(someTool({ config_schema }).manifest, given)
  assert(prepared.kind === 'refused')
  assert.deepEqual(
    prepared.faults.map((fault) => fault.split(' ')[0]),
    ['/params/nam', '/params/name', '/settings/constructor', '/settings/tokn'],
  )
})

test('without an example it is said that params can be given', () => {
  const prepared = preparePayload(someTool({ examples: [] }).manifest, { settings: {}, time })
  assert(prepared.kind === 'refused')
  assert.match(prepared.faults.join('\n'), /--params/)
})

test('params that no argument could hold are refused by their size', () => {
  const params = { name: 'x'.repeat(61 * 1024) }
  const argument = preparePayload(someTool().manifest, { params, settings: {}, time })
  assert(argument.kind === 'refused')
  assert.match(argument.faults.join(), /\/params has \d+ bytes of at most 61440/)
  const stdin = preparePayload(someTool({ input: 'stdin' }).manifest, { params, settings: {}, time })
  assert.equal(stdin.kind, 'prepared')
})
