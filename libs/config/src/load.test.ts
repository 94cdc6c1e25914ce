import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { apiSettings, yardSettings } from './apps.ts'
import type { Environment } from './load.ts'
import { ConfigError, loadConfig } from './load.ts'

const canary = 'c4n4ry'

function fileWith(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'value')
  writeFileSync(file, text)
  return file
}

function faultsOf(environment: Environment): Record<string, string> {
  try {
    loadConfig(yardSettings, environment)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    for (const shown of [error.message, inspect(error), JSON.stringify(error), String(error.stack)])
      assert.ok(!shown.includes(canary), shown)
    for (const { variable, detail } of error.faults)
      assert.ok(error.message.includes(`\n  ${variable}: ${detail}`), error.message)
    return Object.fromEntries(error.faults.map((fault) => [fault.variable, fault.detail]))
  }
  return {}
}

test('an empty environment gives the defaults', () => {
  const config = loadConfig(['databaseUrl', 'port', 'host', 'logLevel'], {})
  assert.deepEqual(config, { databaseUrl: undefined, port: 8080, host: '127.0.0.1', logLevel: 'info' })
})

test('only what was asked for is read and judged', () => {
  const config = loadConfig(['port'], { YARD_PORT: '9000', YARD_LOG_LEVEL: 'loud', PATH: '/bin' })
  assert.deepEqual(config, { port: 9000 })
})

test('the result cannot be changed', () => {
  const config = loadConfig(['port'], {})
  assert.ok(Object.isFrozen(config))
  assert.throws(() => Object.assign(config, { port: 1 }), TypeError)
})

test('three faults at once are told at once, without the values', () => {
  const faults = faultsOf({
    DATABASE_URL: `mysql://ada:${canary}@db/x`,
    YARD_PORT: canary,
    YARD_LOG_LEVEL: canary,
    REDIS_URL: 'redis://fine',
  })
  assert.deepEqual(faults, {
    DATABASE_URL: 'must be a URL beginning postgres:// or postgresql://',
    YARD_PORT: 'must be a whole number from 1 to 65535',
    YARD_LOG_LEVEL: 'must be one of: debug, info, warn, error',
  })
  assert.throws(() => loadConfig(apiSettings, { YARD_PORT: '0', YARD_LOG_LEVEL: 'x', YARD_X: '' }), {
    name: 'ConfigError',
    message: /^The configuration has 3 faults:\n {2}YARD_/,
  })
  assert.throws(
    () => loadConfig(apiSettings, { YARD_PORT: '0' }),
    /^ConfigError: .* has a fault:\n {2}YARD_PORT: /,
  )
})

test('an unknown variable with our prefix is a fault, with the name that was meant', () => {
  const faults = faultsOf({
    YARD_PROT: '1',
    YARD_LOGLEVEL: 'info',
    YARD_SOMETHING_ELSE: canary,
    yard_port: '1',
    XYARD_A: '1',
  })
  assert.deepEqual(faults, {
    YARD_PROT: 'is not a setting of Toolyard; did you mean YARD_PORT?',
    YARD_LOGLEVEL: 'is not a setting of Toolyard; did you mean YARD_LOG_LEVEL?',
    YARD_SOMETHING_ELSE: 'is not a setting of Toolyard; docs/configuration.md lists them all',
  })
})

test('a setting of another process is no unknown variable', () => {
  assert.deepEqual(loadConfig(['port'], { YARD_DATA_DIR: 'x' }), { port: 8080 })
})

test('an empty value is no value', () => {
  const environment = { DATABASE_URL: '', DATABASE_URL_FILE: '', YARD_PORT: '' }
  assert.deepEqual(loadConfig(['databaseUrl', 'port'], environment), { databaseUrl: undefined, port: 8080 })
})

test('a secret is read from a file, without the white space around it', (t) => {
  const file = fileWith(t, `\n postgres://ada:${canary}@db/x \n`)
  const { databaseUrl } = loadConfig(['databaseUrl'], { DATABASE_URL_FILE: file })
  assert.equal(databaseUrl?.reveal(), `postgres://ada:${canary}@db/x`)
})

test('a secret that came from a file can be read again as the file stands then, and no other can', (t) => {
  const file = fileWith(t, `postgres://ada:${canary}@db/x`)
  const { databaseUrl } = loadConfig(['databaseUrl'], { DATABASE_URL_FILE: file })
  writeFileSync(file, `postgres://ada:${canary}@db/y\n`)
  const again = databaseUrl?.readAgain?.()
  assert.equal(again?.reveal(), `postgres://ada:${canary}@db/y`)
  writeFileSync(file, `mysql://${canary}`)
  assert.throws(
    () => again?.readAgain?.(),
    (error) => error instanceof ConfigError && /DATABASE_URL_FILE: must be/.test(error.message),
  )
  assert.equal(databaseUrl?.reveal(), `postgres://ada:${canary}@db/x`)
  const given = loadConfig(['databaseUrl'], { DATABASE_URL: 'postgres://db/x' }).databaseUrl
  assert.equal(given?.readAgain, undefined)
})

test('only secrets are read from files', (t) => {
  assert.deepEqual(Object.keys(faultsOf({ YARD_PORT_FILE: fileWith(t, '9000') })), ['YARD_PORT_FILE'])
})

test('a secret that is given twice, that cannot be read, that is empty or wrong: each fault names its variable', (t) => {
  const good = fileWith(t, 'postgres://db/x')
  const twice = faultsOf({ DATABASE_URL: `postgres://${canary}/x`, DATABASE_URL_FILE: good })
  assert.deepEqual(twice, { DATABASE_URL: 'is set twice: unset it or DATABASE_URL_FILE' })
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: `${good}-gone` }), {
    DATABASE_URL_FILE: 'must name a readable file (ENOENT)',
  })
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: tmpdir() }), {
    DATABASE_URL_FILE: 'must name a readable file (EISDIR)',
  })
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: `nul\0${canary}` }), {
    DATABASE_URL_FILE: 'must name a readable file (ERR_INVALID_ARG_VALUE)',
  })
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: fileWith(t, ' \n') }), {
    DATABASE_URL_FILE: 'names an empty file: write the value into it',
  })
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: fileWith(t, `mysql://${canary}`) }), {
    DATABASE_URL_FILE: 'must be a URL beginning postgres:// or postgresql://',
  })
})

test('a secret that was put where its path belongs is not shown', () => {
  assert.deepEqual(faultsOf({ DATABASE_URL_FILE: `postgres://ada:${canary}@db/x` }), {
    DATABASE_URL_FILE: 'must name a readable file (ENOENT)',
  })
})

test('a configuration that is printed or logged shows no secret', () => {
  const config = loadConfig(yardSettings, {
    DATABASE_URL: `postgres://ada:${canary}@db/x`,
    REDIS_URL: `redis://:${canary}@cache`,
  })
  assert.equal(config.redisUrl?.reveal(), `redis://:${canary}@cache`)
  for (const shown of [inspect(config, { depth: 9, showHidden: true }), JSON.stringify(config)])
    assert.ok(!shown.includes(canary) && shown.includes('***'), shown)
})
