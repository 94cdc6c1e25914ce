import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkRepository } from './check-repository.ts'
import { formatFault } from './fault.ts'
import { ignoredNames, readTree } from './read-tree.ts'

const root = join(import.meta.dirname, '../..')

test('this repository keeps its own rules', () => {
  assert.deepEqual(checkRepository(readTree(root)).map(formatFault), [])
})

test('the tree holds what git would, and nothing that it ignores', () => {
  const paths = [...readTree(root).keys()]
  for (const path of ['package.json', '.gitignore', 'libs/db/src/pool.ts'])
    assert.ok(paths.includes(path), path)
  assert.deepEqual(
    paths.filter((path) => /(?:^|\/)(?:\.git|node_modules|\.turbo)\//.test(path)),
    [],
  )
})

test('an ignore file with patterns is refused rather than half understood', () => {
  assert.deepEqual(
    [...ignoredNames('# made by tools\nnode_modules/\n\n.env\n')],
    ['node_modules', '.env', '.git'],
  )
  assert.throws(() => ignoredNames('*.log\n'), /pattern/)
})

test('a fault names its place, its rule and the mend', () => {
  const fault = { path: 'libs/db/src/x.ts', line: 3, rule: 'level', message: 'imports upward' }
  assert.equal(formatFault(fault), 'libs/db/src/x.ts:3 level — imports upward')
})
