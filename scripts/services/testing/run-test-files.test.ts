import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import type { TestCounts } from './run-test-files.ts'

const execute = promisify(execFile)

const contents = {
  'mixed.test.ts': `
    import { test } from 'node:test'
    test('passes', async (t) => { await t.test('and so does its part', () => {}) })
    test('fails', () => { throw new Error('no') })
    test('is left out', { skip: true }, () => {})
    test('is not there yet', { todo: true }, () => { throw new Error('no') })`,
  'broken.test.ts': 'this is no program(',
  'empty.test.ts': 'export {}',
  'hangs.test.ts': `
    import { test } from 'node:test'
    test('passes', () => {})
    setInterval(() => {}, 1000)`,
}

type FileName = keyof typeof contents

test('passes, failures and what was left out are counted one by one', async (t) => {
  assert.deepEqual(await countsOf(t, ['mixed.test.ts']), { passed: 2, failed: 1, skipped: 2 })
})

test('a file that cannot be loaded, that holds no test, or that never ends is a failure', async (t) => {
  assert.deepEqual(await countsOf(t, ['broken.test.ts']), { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual(await countsOf(t, ['empty.test.ts']), { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual(await countsOf(t, ['hangs.test.ts']), { passed: 1, failed: 1, skipped: 0 })
})

test('with a name only the tests of that name run, and files without one are no failure', async (t) => {
  const files: FileName[] = ['mixed.test.ts', 'empty.test.ts']
  assert.deepEqual(await countsOf(t, files, ['is left', 'passes']), { passed: 2, failed: 0, skipped: 1 })
})

test('several files are counted together', async (t) => {
  const files: FileName[] = ['mixed.test.ts', 'broken.test.ts', 'empty.test.ts']
  assert.deepEqual(await countsOf(t, files), { passed: 2, failed: 3, skipped: 2 })
})

// A program, because node runs no test files from within a test.
const program = `
  import { runTestFiles } from ${JSON.stringify(import.meta.resolve('./run-test-files.ts'))}
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const types = new Set()
  const options = { ...JSON.parse(process.argv[2]), stop: new AbortController().signal, counts }
  for await (const event of runTestFiles(options)) types.add(event.type)
  process.stdout.write(JSON.stringify({ counts, hasSummary: types.has('test:summary') }))`

async function countsOf(t: TestContext, files: FileName[], names: string[] = []): Promise<TestCounts> {
  const root = temporaryFolder(t)
  for (const file of files) writeFileSync(join(root, file), contents[file])
  writeFileSync(join(root, 'program.ts'), program)
  const options = JSON.stringify({ root, files, names, concurrency: 2, fileTimeoutMs: 2_000 })
  const { stdout } = await execute(process.execPath, [join(root, 'program.ts'), options], { env: {} })
  const { counts, hasSummary } = JSON.parse(stdout)
  assert.equal(hasSummary, false, 'sums of single files are left out')
  return counts
}
