import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onlyWord, readObject, requireToolName } from './read-arguments.ts'
import { UsageFault } from './usage-fault.ts'

const refused = (message: RegExp) => (error: unknown) =>
  error instanceof UsageFault && message.test(error.message)

test('a command that is about one thing takes one word', () => {
  assert.equal(onlyWord(['a'], 'NAME'), 'a')
  assert.throws(() => onlyWord([], 'NAME'), refused(/NAME is missing/))
  assert.throws(() => onlyWord([''], 'NAME'), refused(/NAME is missing/))
  assert.throws(() => onlyWord(['a', 'b'], 'NAME'), refused(/one NAME at a time/))
})

test('a name that would lead elsewhere never becomes a path', () => {
  assert.equal(requireToolName('http_get'), 'http_get')
  for (const name of ['../keys', 'a/b', '', 'A', '_base', '1a', 'a?b', 'a'.repeat(65), 'a\n'])
    assert.throws(() => requireToolName(name), refused(/is no name of a tool/))
})

test('only a JSON object is taken, and a refusal does not repeat what may be a secret', async () => {
  assert.deepEqual(await readObject('--params', '{"a": [1]}'), { a: [1] })
  for (const text of ['', '{', '[1]', 'null', '"hunter22"', "{'token': 'hunter22'}"]) {
    await assert.rejects(readObject('--settings', text), (error: unknown) => {
      assert(error instanceof UsageFault)
      assert.match(error.message, /^--settings (?:is no JSON|must be a JSON object)/)
      assert(!error.message.includes('hunter22'))
      return true
    })
  }
})
