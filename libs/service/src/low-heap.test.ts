import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { collectGarbage } from './low-heap.ts'

const script = fileURLToPath(new URL('fixtures/churn-heap.ts', import.meta.url))

const largestHeap = (how: 'slow' | 'as it is'): number =>
  JSON.parse(execFileSync(process.execPath, [script, how], { encoding: 'utf8' })).largest

test('a heap that is told to grow slowly stays smaller under the same work', () => {
  const [slow, usual] = [largestHeap('slow'), largestHeap('as it is')]
  assert.ok(slow < usual, `${slow} and ${usual} bytes`)
})

test('a collection takes what nobody holds any more', () => {
  let large: object | undefined = { text: 'x' }
  const reference = new WeakRef(large)
  large = undefined
  return new Promise<void>((resolve) => {
    // In a turn of its own: what this one has touched is held until it ends.
    setImmediate(() => {
      collectGarbage()
      assert.equal(reference.deref(), undefined)
      assert.equal('gc' in globalThis, false)
      resolve()
    })
  })
})
