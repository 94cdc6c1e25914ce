import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkArchitecture } from './architecture.ts'
import { plantedTree } from './planted-tree.ts'

/** What the check says of the planted files, as `path:line rule`. */
const faultsOf = (changes: Record<string, string | undefined>) =>
  checkArchitecture(plantedTree(changes)).map((fault) => `${fault.path}:${fault.line} ${fault.rule}`)

const inFile = (path: string, source: string) => faultsOf({ [path]: source })

const everyWayToImport = (specifier: string): Record<string, string> => ({
  'a default import': `import x from '${specifier}'\nx()`,
  'a side effect': `import '${specifier}'`,
  'a type': `import type { X } from '${specifier}'\nexport type Y = X`,
  'an inline type': `export type Y = import('${specifier}').X`,
  'a re-export': `export { x } from '${specifier}'\nexport const y = 1`,
  'a dynamic import': `await import('${specifier}')`,
  'a dynamic import of a template': `await import(\`${specifier}\`)`,
  'a require': `const x = require('${specifier}')`,
  'an import = require': `import x = require('${specifier}')\nx()`,
  'a require.resolve': `require.resolve('${specifier}')`,
  'an import.meta.resolve': `import.meta.resolve('${specifier}')`,
})

test('a house in order has no fault', () => {
  assert.deepEqual(faultsOf({}), [])
})

test('a lib that imports upward is refused, however it imports', () => {
  for (const [way, source] of Object.entries(everyWayToImport('@toolyard/access/keys'))) {
    assert.deepEqual(inFile('libs/db/src/x.ts', source), ['libs/db/src/x.ts:1 level'], way)
  }
})

test('a lib may import its own level and the ones below', () => {
  assert.deepEqual(
    inFile('libs/queue/src/x.ts', "import { createPool } from '@toolyard/db/pool'\ncreatePool()"),
    [],
  )
  assert.deepEqual(
    inFile('libs/access/src/x.ts', "import { createPool } from '@toolyard/db/pool'\ncreatePool()"),
    [],
  )
})

test('the lowest level imports the contract and nothing else', () => {
  assert.deepEqual(inFile('libs/log/src/x.ts', "import { x } from '@toolyard/contract/ids'\nx()"), [])
  const manifest = '{"name":"@toolyard/contract","exports":{},"dependencies":{"@toolyard/log":"*"}}'
  const source = "import { x } from '@toolyard/log/logger'\nx()"
  assert.deepEqual(faultsOf({ 'libs/contract/package.json': manifest, 'libs/contract/src/x.ts': source }), [
    'libs/contract/src/x.ts:1 level',
  ])
})

test('neither a lib nor an app imports an app', () => {
  assert.deepEqual(inFile('libs/access/src/x.ts', "import { x } from '@toolyard/api/app'\nx()"), [
    'libs/access/src/x.ts:1 level',
  ])
  assert.deepEqual(inFile('apps/api/src/x.ts', "import { x } from '@toolyard/worker/app'\nx()"), [
    'apps/api/src/x.ts:1 level',
  ])
})

test('packages that import each other are shown as a circle, whatever they import', () => {
  const faults = checkArchitecture(
    plantedTree({
      'libs/db/src/x.ts': "import type { X } from '@toolyard/queue/names'\nexport type Y = X",
      'libs/queue/src/x.ts': "\nimport { createPool } from '@toolyard/db/pool'\ncreatePool()",
    }),
  )
  assert.deepEqual(
    faults.map((fault) => `${fault.path}:${fault.line} ${fault.rule} ${fault.message.split(':')[0]}`),
    ['libs/db/src/x.ts:1 cycle db → queue → db', 'libs/queue/src/x.ts:2 cycle queue → db → queue'],
  )
})

test('testkit and the libs that it imports are no circle', () => {
  assert.deepEqual(
    inFile('libs/db/src/pool.test.ts', "import { testPool } from '@toolyard/testkit/database'\ntestPool()"),
    [],
  )
})

test('only development files import testkit', () => {
  const source = "import { testPool } from '@toolyard/testkit/database'\ntestPool()"
  for (const path of ['libs/db/src/x.ts', 'apps/api/src/main.ts', 'apps/api/src/test-like.ts']) {
    assert.deepEqual(inFile(path, source), [`${path}:1 testkit`])
  }
  for (const path of [
    'libs/queue/src/queue-suite.ts',
    'libs/queue/src/contract/adding.ts',
    'libs/db/bench/x.ts',
    'libs/db/src/fixtures/x.ts',
    'test/x.ts',
    'scripts/x.ts',
  ]) {
    assert.deepEqual(inFile(path, source), [], path)
  }
})

test('what keeps services running does not import testkit either', () => {
  const source = "import { testPool } from '@toolyard/testkit/database'\ntestPool()"
  const path = 'scripts/services/redis/x.ts'
  assert.deepEqual(inFile(path, source), [`${path}:1 testkit`])
  for (const other of ['scripts/services/redis/x.test.ts', 'scripts/services/redis/fixtures/x.ts'])
    assert.deepEqual(inFile(other, source), [], other)
})

test('what a service runs imports no development file', () => {
  for (const target of [
    './fixtures/y.ts',
    '../bench/y.ts',
    './queue-suite.ts',
    './contract/y.ts',
    './y.test.ts',
  ]) {
    assert.deepEqual(
      inFile('libs/queue/src/x.ts', `import '${target}'`),
      ['libs/queue/src/x.ts:1 development'],
      target,
    )
    assert.deepEqual(inFile('libs/queue/src/x.test.ts', `import '${target}'`), [], target)
  }
})

test('testkit is declared nowhere', () => {
  const manifest = '{"name":"@toolyard/worker","devDependencies":{"@toolyard/testkit":"*"}}'
  assert.deepEqual(faultsOf({ 'apps/worker/package.json': manifest }), ['apps/worker/package.json:1 testkit'])
})

test('a client that belongs to another package is refused, however it is imported', () => {
  for (const [way, source] of Object.entries(everyWayToImport('pg'))) {
    assert.deepEqual(inFile('libs/queue/src/x.ts', source), ['libs/queue/src/x.ts:1 owner'], way)
  }
  const elsewhere = [
    'pg/lib/client.js',
    'pg-pool',
    'bullmq',
    'ioredis',
    'dockerode',
    'hono/cors',
    '@hono/node-server',
    'pino',
    'prom-client',
  ]
  for (const name of [
    ...elsewhere,
    '@opentelemetry/api',
    '@node-rs/argon2',
    'cron-parser',
    'sanitize-html',
  ]) {
    assert.deepEqual(inFile('scripts/x.ts', `import x from '${name}'\nx()`), ['scripts/x.ts:1 owner'], name)
  }
  assert.deepEqual(inFile('apps/api/src/x.ts', "import { Hono } from 'hono'\nnew Hono()"), [])
})

test('a name that only begins like a client is nobody’s', () => {
  assert.deepEqual(inFile('scripts/x.ts', "import x from 'honolulu'\nx()"), ['scripts/x.ts:1 declared'])
})

test('the environment is read where the table says and nowhere else', () => {
  const ways = [
    'process.env.HOME',
    "process['env'].HOME",
    'globalThis.process.env',
    'const { env } = process',
    'const { ...all } = process',
    "import { env } from 'node:process'",
    "import p from 'process'",
  ]
  for (const way of ways)
    assert.deepEqual(inFile('libs/db/src/x.ts', `\n${way}`), ['libs/db/src/x.ts:2 environment'], way)
  for (const path of [
    'libs/db/src/x.test.ts',
    'apps/api/src/app.ts',
    'test/x.test.ts',
    'libs/config/src/load.ts',
  ]) {
    assert.ok(inFile(path, 'process.env.HOME').includes(`${path}:1 environment`), path)
  }
  for (const path of ['apps/worker/src/main.ts', 'scripts/x.ts', 'libs/testkit/src/x.ts']) {
    assert.deepEqual(inFile(path, 'process.env.HOME'), [], path)
  }
  assert.deepEqual(
    inFile('libs/db/src/x.ts', 'const { pid } = process\nrun(process.argv, pid, options.env)'),
    [],
  )
})

test('a relative import stays in its package', () => {
  assert.deepEqual(inFile('libs/queue/src/x.ts', "import '../../db/src/pool.ts'"), [
    'libs/queue/src/x.ts:1 relative',
  ])
  assert.deepEqual(inFile('libs/queue/src/x.ts', "import '../../queue-extra/src/x.ts'"), [
    'libs/queue/src/x.ts:1 relative',
  ])
  assert.deepEqual(inFile('scripts/x.ts', "import '../libs/db/src/pool.ts'"), ['scripts/x.ts:1 relative'])
  assert.deepEqual(inFile('libs/queue/src/a/x.ts', "import '../../other/y.ts'"), [])
})

test('nobody imports scripts', () => {
  assert.deepEqual(inFile('test/x.test.ts', "import '../scripts/yard.ts'"), ['test/x.test.ts:1 scripts'])
  assert.deepEqual(inFile('apps/api/src/x.ts', "import '../../../scripts/yard.ts'"), [
    'apps/api/src/x.ts:1 scripts',
  ])
})

test('a package imports itself by relative path', () => {
  assert.deepEqual(inFile('libs/db/src/x.ts', "import '@toolyard/db/pool'"), ['libs/db/src/x.ts:1 relative'])
})

test('what is imported is declared in that package, not only somewhere', () => {
  assert.deepEqual(inFile('libs/queue/src/x.ts', "import 'zod'"), ['libs/queue/src/x.ts:1 declared'])
  assert.deepEqual(inFile('libs/queue/src/x.ts', "import '@toolyard/contract/ids'"), [
    'libs/queue/src/x.ts:1 declared',
  ])
  assert.deepEqual(
    inFile('scripts/x.ts', "import 'zod'\nimport '@toolyard/contract/ids'\nimport 'node:fs'\nimport 'fs'"),
    [],
  )
})

test('a development dependency serves development files only', () => {
  assert.deepEqual(inFile('libs/db/bench/x.ts', "import 'autocannon'"), [])
  assert.deepEqual(inFile('libs/db/src/x.ts', "import 'autocannon'"), ['libs/db/src/x.ts:1 declared'])
})

test('a workspace that does not exist cannot be imported', () => {
  assert.deepEqual(inFile('test/x.ts', "import '@toolyard/nothing/x'"), ['test/x.ts:1 package'])
})

test('an import that the check cannot see is refused', () => {
  const ways = [
    'await import(name)',
    'require(name)',
    'import.meta.resolve(name)',
    "import { createRequire } from 'node:module'",
    "import * as m from 'module'",
    "import '#db'",
    "import '/srv/x.ts'",
    "import 'file:///srv/x.ts'",
    "import 'data:text/javascript,1'",
  ]
  for (const way of ways)
    assert.deepEqual(inFile('libs/db/src/x.ts', way), ['libs/db/src/x.ts:1 hidden-import'], way)
  assert.deepEqual(inFile('libs/db/src/x.ts', "import { isBuiltin } from 'node:module'"), [])
})

test('a file that cannot be parsed is a fault, not a pass', () => {
  assert.deepEqual(inFile('libs/db/src/x.ts', '\nconst = 3'), ['libs/db/src/x.ts:2 syntax'])
})

test('barrels are refused in every shape', () => {
  assert.deepEqual(inFile('libs/db/src/x.ts', "export * from './pool.ts'\nexport const y = 1"), [
    'libs/db/src/x.ts:1 barrel',
  ])
  assert.deepEqual(inFile('libs/db/src/x.ts', "export { createPool } from './pool.ts'"), [
    'libs/db/src/x.ts:1 barrel',
  ])
  assert.deepEqual(
    inFile('libs/db/src/x.ts', "import { createPool } from './pool.ts'\nexport { createPool }"),
    ['libs/db/src/x.ts:1 barrel'],
  )
  assert.deepEqual(inFile('libs/db/src/index.ts', 'export const y = 1'), ['libs/db/src/index.ts:1 barrel'])
  assert.deepEqual(inFile('libs/db/src/x.ts', 'const y = 1\nexport { y }'), [])
})

test('a package that the table does not know is refused', () => {
  const lib = {
    'libs/extra/package.json': '{"name":"@toolyard/extra","exports":{}}',
    'libs/extra/README.md': 'May import: nothing.',
  }
  assert.deepEqual(faultsOf(lib), ['libs/extra/package.json:1 table'])
  assert.deepEqual(faultsOf({ 'apps/web/package.json': '{"name":"@toolyard/web"}' }), [
    'apps/web/package.json:1 table',
  ])
})

test('a package has a readable package.json with the name of its folder', () => {
  assert.deepEqual(faultsOf({ 'apps/worker/package.json': '{"name":"@toolyard/other"}' }), [
    'apps/worker/package.json:1 package',
  ])
  assert.deepEqual(faultsOf({ 'apps/worker/package.json': '{' }), ['apps/worker/package.json:1 package'])
  assert.deepEqual(faultsOf({ 'apps/worker/package.json': undefined, 'apps/worker/src/x.ts': 'run()' }), [
    'apps/worker/package.json:1 package',
  ])
  assert.deepEqual(inFile('libs/stray.ts', 'run()'), ['libs/stray.ts:1 folder'])
})

test('a lib exports by a map of files that exist', () => {
  assert.deepEqual(faultsOf({ 'libs/queue/package.json': '{"name":"@toolyard/queue"}' }), [
    'libs/queue/package.json:1 exports',
  ])
  const pattern = '{"name":"@toolyard/queue","exports":{"./*":"./src/*.ts"}}'
  assert.deepEqual(faultsOf({ 'libs/queue/package.json': pattern }), ['libs/queue/package.json:1 exports'])
})

test('every lib has a README of at most 40 lines', () => {
  assert.deepEqual(faultsOf({ 'libs/db/README.md': undefined }), ['libs/db/README.md:1 readme'])
  const readme = (lineCount: number) => `May import: level 2.\n${'line\n'.repeat(lineCount - 1)}`
  assert.deepEqual(faultsOf({ 'libs/db/README.md': readme(41) }), ['libs/db/README.md:41 readme'])
  assert.deepEqual(faultsOf({ 'libs/db/README.md': readme(40) }), [])
})
