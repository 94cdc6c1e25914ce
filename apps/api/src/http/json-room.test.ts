import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJsonRoom, namesMax, valuesMax } from './json-room.ts'

const objectOf = (names: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, index) => [`a${index}`, 0])))
const listOf = (values: number) => JSON.stringify(Array(values).fill(0))
const codeOf = (text: string) => createJsonRoom().refuse(text)?.code

test('as many names and values as may be fit, and one more does not', () => {
  assert.equal(codeOf(objectOf(namesMax)), undefined)
  assert.equal(codeOf(objectOf(namesMax + 1)), 'payload_too_large')
  assert.equal(codeOf(listOf(valuesMax)), undefined)
  assert.equal(codeOf(listOf(valuesMax + 1)), 'payload_too_large')
  assert.equal(codeOf('['.repeat(valuesMax + 1)), 'payload_too_large')
  assert.equal(codeOf('{"a":'.repeat(namesMax + 1)), 'payload_too_large')
})

test('what is within a text counts for nothing, however it is escaped', () => {
  const signs = ',:[{'.repeat(valuesMax)
  for (const text of [signs, `"${signs}`, `\\"${signs}`, `\\\\"${signs}`, `${signs}\\`])
    assert.equal(codeOf(JSON.stringify({ [text]: text })), undefined, text.slice(0, 4))
  for (const open of [`"${signs}`, `"\\"${signs}`, `"\\\\\\"${signs}`])
    assert.equal(codeOf(open), undefined, 'it never ends')
  for (const closed of [`""${signs}`, `"\\\\"${signs}`, `"\\""${signs}`])
    assert.equal(codeOf(closed), 'payload_too_large', closed.slice(0, 6))
})

test('texts share a room, and what does not fit takes none of it', () => {
  const room = createJsonRoom()
  assert.equal(room.refuse(objectOf(namesMax - 1)), undefined)
  assert.equal(room.refuse(objectOf(2))?.code, 'payload_too_large')
  assert.equal(room.refuse(objectOf(1)), undefined)
  assert.equal(room.refuse(objectOf(1))?.code, 'payload_too_large')
  assert.equal(room.refuse('[1, 2]'), undefined)
})
