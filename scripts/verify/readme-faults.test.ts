import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkArchitecture } from './architecture.ts'
import { plantedTree } from './planted-tree.ts'

const importing = "import { createPool } from '@toolyard/db/pool'\ncreatePool()"

/** What is said of the README of `access`, which imports `db`. */
const faultsOf = (readme: string, files: Record<string, string> = { 'libs/access/src/keys.ts': importing }) =>
  checkArchitecture(plantedTree({ 'libs/access/README.md': readme, ...files })).map(
    ({ path, line, rule, message }) => `${path}:${line} ${rule} ${message}`,
  )

const place = 'libs/access/README.md:3 may-import'

test('a README names what the lib imports, however it spells it', () => {
  for (const list of [
    '`libs/db`',
    '`@toolyard/db`',
    'db',
    '`libs/db` (the pool), pg. Not the `libs/queue`',
    'level 2',
  ])
    for (const opening of ['May import:', '**May import**'])
      assert.deepEqual(faultsOf(`# Access\n\n${opening} ${list}.\n`), [], list)
  const missing = `${place} does not name \`libs/db\`, which the lib imports`
  for (const list of [
    'nothing of ours.',
    'pg (for `libs/db`).',
    'pg. Of `libs/db` nothing',
    'level 1',
    'level 3.',
  ])
    assert.deepEqual(faultsOf(`# Access\n\nMay import: ${list}`), [missing], list)
})

test('a README names nothing that the lib does not import', () => {
  assert.deepEqual(faultsOf('# Access\n\nMay import: `libs/db`, `libs/queue`.'), [
    `${place} names \`libs/queue\`, which nothing of the lib imports`,
  ])
})

test('what only tests and benches import, a README need not name', () => {
  const files = { 'libs/access/src/keys.test.ts': importing, 'libs/access/bench/x.ts': importing }
  assert.deepEqual(faultsOf('# Access\n\nMay import: nothing.', files), [])
})

test('all that is missing is one fault', () => {
  const more = "import { x } from '@toolyard/contract/ids'\nimport { y } from '@toolyard/contract/codes'"
  const manifest =
    '{"name":"@toolyard/access","exports":{},"dependencies":{"@toolyard/db":"*","@toolyard/contract":"*"}}'
  const files = {
    'libs/access/package.json': manifest,
    'libs/access/src/a.ts': importing,
    'libs/access/src/b.ts': more,
  }
  assert.deepEqual(faultsOf('# Access\n\nMay import: nothing.', files), [
    `${place} does not name \`libs/contract\`, \`libs/db\`, which the lib imports`,
  ])
})

test('a README that does not say what the lib imports is refused', () => {
  assert.match(
    faultsOf('# Access\n\nWho may import it: all.').join('\n'),
    /^libs\/access\/README\.md:1 may-import/,
  )
})
