import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { readTool } from '@toolyard/catalog/read-tool'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { Failure } from '../../services/terminal/failure.ts'
import { projectRoot } from '../../services/installation/installation.ts'
import { languages, makeTool } from './new-tool.ts'

const failure = (message: RegExp) => (error: unknown) =>
  error instanceof Failure && message.test(error.message)

test('a new tool of each language is a tool without a fault, and no placeholder is left in it', async (t) => {
  assert.deepEqual(languages(), ['bash', 'node', 'python'])
  const parent = temporaryFolder(t)
  for (const lang of languages()) {
    const { dir, files } = makeTool({ name: `new-${lang}`, lang, toolDirs: [parent] })
    assert.deepEqual(readdirSync(dir).sort(), files)
    for (const file of files) assert.doesNotMatch(readFileSync(join(dir, file), 'utf8'), /__[A-Z]+__/)
    const reading = await readTool({ name: `new-${lang}`, dir }, { extra: [], settleMs: 0 })
    assert(reading.state === 'tool', JSON.stringify(reading))
    assert.equal(reading.tool.manifest.examples.length, 1)
    assert.equal(
      resolve(dir, reading.tool.manifest.$schema ?? ''),
      join(projectRoot, 'tools/manifest.schema.json'),
    )
  }
})

test('what is there already stays as it is, in whichever directory of tools it stands', (t) => {
  const [first, second] = [temporaryFolder(t), temporaryFolder(t)]
  mkdirSync(join(second, 'mine'))
  const wanted = { lang: 'bash', toolDirs: [first, second] }
  assert.throws(() => makeTool({ ...wanted, name: 'mine' }), failure(/mine is there already/))
  makeTool({ ...wanted, name: 'other' })
  assert.throws(() => makeTool({ ...wanted, name: 'other' }), failure(/other is there already/))
  assert.deepEqual([readdirSync(first), readdirSync(second)], [['other'], ['mine']])
})

test('a name that no image can have is refused before anything is written', (t) => {
  const parent = temporaryFolder(t)
  mkdirSync(join(parent, '_base', 'shell'), { recursive: true })
  for (const name of ['base-shell', 'ends_', 'a-_b'])
    assert.throws(() => makeTool({ name, lang: 'bash', toolDirs: [parent] }), Failure)
  assert.deepEqual(readdirSync(parent), ['_base'])
})

test('without a directory of tools it is said how to get one', (t) => {
  const missing = join(temporaryFolder(t), 'tools')
  assert.throws(() => makeTool({ name: 'a', lang: 'bash', toolDirs: [missing] }), failure(/YARD_TOOL_DIRS/))
  assert(!existsSync(missing))
})
