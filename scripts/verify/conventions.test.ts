import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkConventions } from './conventions.ts'

const faultsIn = (path: string, source: string) =>
  checkConventions(new Map([[path, source]])).map((fault) => `${fault.line} ${fault.rule}`)

const inLib = (source: string) => faultsIn('libs/db/src/x.ts', source)
const inTest = (source: string) => faultsIn('libs/db/src/x.test.ts', source)

test('a cast through unknown is refused, in tests too', () => {
  for (const open of ['unknown', 'any', 'never']) {
    assert.deepEqual(inLib(`\nexport const x = y as ${open} as Pool`), ['2 double-cast'])
  }
  assert.deepEqual(inLib('export const x = <Pool>(<unknown>y)'), ['1 double-cast'])
  assert.deepEqual(inLib('export const x = (y as unknown) as Pool'), ['1 double-cast'])
  assert.deepEqual(inTest('const x = y as unknown as Pool'), ['1 double-cast'])
})

test('a cast says why it is safe', () => {
  assert.deepEqual(inLib('export const x = y as Pool'), ['1 cast-reason'])
  assert.deepEqual(inLib('// safe because y was parsed\nexport const x = y as Pool'), [])
  assert.deepEqual(inLib('// safe because y was parsed\n\n\n\nexport const x = y as Pool'), ['5 cast-reason'])
  assert.deepEqual(
    inLib('// safe because y was parsed\nexport const x = {\n  a: 1,\n  b: 2,\n  c: 3,\n} as Pool'),
    [],
  )
  assert.deepEqual(inLib('export const x = [1] as const\nexport const y = x as unknown'), [])
  assert.deepEqual(inTest('const x = y as Pool'), [])
})

test('modules are not mocked', () => {
  for (const way of ["mock.module('pg', {})", "t.mock.module('pg', {})", "mock['module']('pg')"]) {
    assert.deepEqual(inTest(way), ['1 module-mock'], way)
    assert.deepEqual(inLib(way), ['1 module-mock'], way)
  }
  assert.deepEqual(inTest('t.mock.timers.enable()'), [])
  const flag = '{\n"scripts": {"test": "node --test --experimental-test-module-mocks"}}'
  assert.deepEqual(faultsIn('package.json', flag), ['2 module-mock'])
})

test('a test that runs alone is refused', () => {
  for (const way of [
    "test.only('x', () => {})",
    "describe.only('x', () => {})",
    "test('x', { only: true }, () => {})",
  ]) {
    assert.deepEqual(inTest(way), ['1 test-only'], way)
  }
  assert.deepEqual(inLib('mutex.only()'), [])
})

test('a skipped test gives its reason in words', () => {
  const bare = [
    "test.skip('x', () => {})",
    "test('x', { skip: true }, () => {})",
    "t.test('x', { skip: noIpv6 }, () => {})",
    't.skip()',
  ]
  for (const way of [
    ...bare,
    "test('x', { skip: '' }, () => {})",
    "test('x', { skip: a ? true : false }, () => {})",
  ]) {
    assert.deepEqual(inTest(way), ['1 test-skip'], way)
  }
  const reasons = [
    "{ skip: 'no IPv6 here' }",
    "{ skip: a ? false : 'no IPv6 here' }",
    "{ skip: a && 'no IPv6 here' }",
    '{ skip: `no ${a}` }',
  ]
  for (const options of reasons) assert.deepEqual(inTest(`test('x', ${options}, () => {})`), [], options)
  assert.deepEqual(inTest("t.skip('no IPv6 here')"), [])
})

test('a test that is still to be written is refused', () => {
  assert.deepEqual(inTest("test.todo('x')"), ['1 test-todo'])
  assert.deepEqual(inTest("test('x', { todo: true })"), ['1 test-todo'])
})

test('a test does not sleep', () => {
  const ways = [
    "import { setTimeout as delay } from 'node:timers/promises'",
    "import timers from 'timers/promises'",
    "import { scheduler } from 'node:timers/promises'",
    'await new Promise((done) => setTimeout(done, 50))',
    'await new Promise((done) => { setTimeout(() => done(), 50) })',
    'await new Promise(function (done) { setTimeout(done, 50) })',
    'const delay = promisify(setTimeout)',
  ]
  for (const way of ways) {
    assert.deepEqual(inTest(way), ['1 sleep'], way)
    assert.deepEqual(faultsIn('test/kill.ts', way), ['1 sleep'], way)
    assert.deepEqual(inLib(way), [], way)
    assert.deepEqual(inTest(`// sleeps because the server tells nobody\n${way}`), [], way)
    assert.deepEqual(inTest(`// sleeps because the server tells nobody\n\n${way}`), ['3 sleep'], way)
  }
  const limit = 'await new Promise((done, fail) => { setTimeout(() => fail(new Error()), 50); start(done) })'
  assert.deepEqual(inTest(`${limit}\nimport { setImmediate } from 'node:timers/promises'`), [])
})

test('a test does not let the database sleep for it either', () => {
  const ways = [
    "await pool.query('select pg_sleep(0.3)')",
    'await pool.query(`select pg_sleep(${seconds})`)',
    "await queryWithin(pool, { text: 'select PG_SLEEP_FOR ($1)', limitMs: 50 })",
  ]
  for (const way of ways) {
    assert.deepEqual(inTest(way), ['1 sleep'], way)
    assert.deepEqual(faultsIn('libs/db/fixtures/x.ts', way), ['1 sleep'], way)
    assert.deepEqual(inLib(way), [], way)
    assert.deepEqual(inTest(`// sleeps because it is to be cut off\n${way}`), [], way)
  }
  const hanging = "const running = pool.query('select pg_sleep(60)')"
  const refused = "await assert.rejects(pool.query('select pg_sleep(60)'), { code: '57014' })"
  assert.deepEqual(inTest(`${hanging}\n${refused}`), [])
})

test('a test says which error it expects', () => {
  const ways = ['assert.rejects(run())', "assert.rejects(run(), 'it fails')", 'assert.throws(run, `no ${a}`)']
  for (const way of [...ways, 'assert.throws(run)', 'throws(run)', 'assert.rejects(run(), Error)']) {
    assert.deepEqual(inTest(way), ['1 any-error'], way)
    assert.deepEqual(faultsIn('test/fixtures/x.ts', way), ['1 any-error'], way)
    assert.deepEqual(inLib(way), [], way)
  }
  const told = ['/gone/', "{ code: '57014' }", 'RangeError', '(error) => isGone(error)', 'refusal']
  for (const error of told) assert.deepEqual(inTest(`assert.rejects(run(), ${error})`), [], error)
  assert.deepEqual(inTest('promise.throws(run)'), [])
})

test('a rule is switched off with a reason only', () => {
  assert.deepEqual(inLib('\n// oxlint-disable-next-line no-console\nrun()'), ['2 disable-reason'])
  assert.deepEqual(inLib('/* eslint-disable no-console */'), ['1 disable-reason'])
  assert.deepEqual(inLib('// oxlint-disable-next-line no-console -- the start page\nrun()'), [])
})

test('only files of the repository’s own code are read', () => {
  assert.deepEqual(faultsIn('tools/echo/run.ts', 'export const x = y as unknown as Pool'), [])
})
