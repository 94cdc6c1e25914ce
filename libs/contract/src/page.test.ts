import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from './errors.ts'
import { cutPage, readPageRequest } from './page.ts'

const isCursor = (text: string) => text === 'last'

test('a page has 50 rows unless 1 to 200 are asked for, and begins after its cursor', () => {
  assert.deepEqual(readPageRequest({}, isCursor), { after: null, limit: 50 })
  assert.deepEqual(readPageRequest({ cursor: 'last', limit: 200 }, isCursor), { after: 'last', limit: 200 })
  assert.deepEqual(readPageRequest({ limit: 1 }, isCursor), { after: null, limit: 1 })
})

test('a limit and a cursor that are none are refused together, each by its name and with how to mend it', () => {
  const limit = { pointer: '/limit', detail: 'must be a whole number from 1 to 200' }
  const cursor = { pointer: '/cursor', detail: 'must be the next_cursor of the page before' }
  for (const [request, faults] of [
    ...[0, 201, -1, 1.5, Number.NaN].map((one) => [{ limit: one }, [limit]] as const),
    [{ cursor: '' }, [cursor]],
    [{ limit: 0, cursor: 'x' }, [limit, cursor]],
  ] as const) {
    assert.throws(
      () => readPageRequest(request, isCursor),
      (error) => {
        assert.ok(error instanceof AppError)
        assert.equal(error.code, 'invalid_request')
        assert.deepEqual(error.faults, faults)
        for (const { pointer, detail } of faults)
          assert.ok(error.message.includes(`"${pointer.slice(1)}" ${detail}`))
        return true
      },
    )
  }
})

test('a row more than the page has says that another one follows, after its last', () => {
  const cursorOf = (row: string) => `after ${row}`
  assert.deepEqual(cutPage(['a', 'b', 'c'], 2, cursorOf), { page: ['a', 'b'], nextCursor: 'after b' })
  assert.deepEqual(cutPage(['a', 'b'], 2, cursorOf), { page: ['a', 'b'], nextCursor: null })
  assert.deepEqual(cutPage([], 2, cursorOf), { page: [], nextCursor: null })
})
