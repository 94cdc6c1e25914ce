import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Failure } from '../../services/terminal/failure.ts'
import { readLabelledSet } from './read-labelled-set.ts'

test('reads tools with and without parameters, and leaves out queries for tools that are not there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'labelled-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tools = [
    { name: 'a', description: 'does a' },
    { name: 'b', description: 'does b', parameters: [{ name: 'p', description: null }] },
  ]
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(tools))
  const lines = [
    { query: 'one', tools: ['a'], h: 'x' },
    { query: 'two', tools: ['gone'] },
    { query: 'three', tools: ['b'] },
  ]
  writeFileSync(join(folder, 'queries.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
  const set = readLabelledSet(folder, 10)
  assert.deepEqual(
    set.queries.map(({ query }) => query),
    ['one', 'three'],
  )
  assert.deepEqual(set.tools[1]?.parameters, [{ name: 'p', description: '' }])
  assert.deepEqual([set.unanswerable, readLabelledSet(folder, 1).queries.length], [[], 1])
})

test('a line that is no query is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'labelled-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'tools.json'), '[]')
  for (const line of ['{"query": 1, "tools": []}', '{"query"']) {
    writeFileSync(join(folder, 'queries.jsonl'), `\n${line}\n`)
    assert.throws(() => readLabelledSet(folder, 10), /queries\.jsonl:2/)
  }
})

test('a folder that holds no set is told to a person', () => {
  assert.throws(() => readLabelledSet(join(tmpdir(), 'there-is-no-such-folder'), 10), Failure)
})
