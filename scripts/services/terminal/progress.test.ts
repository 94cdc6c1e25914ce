import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ProgressEvent } from './progress.ts'
import { createProgress, createRenderer } from './progress.ts'

test('a step begins and ends, also when it fails, and gives back its result', async () => {
  const events: ProgressEvent[] = []
  const progress = createProgress((event) => events.push(event))
  assert.equal(await progress.step('one', async () => 7), 7)
  await assert.rejects(
    progress.step('two', () => Promise.reject(new Error('no'))),
    /^Error: no$/,
  )
  assert.deepEqual(events, [
    { kind: 'begin', title: 'one' },
    { kind: 'end', ok: true },
    { kind: 'begin', title: 'two' },
    { kind: 'end', ok: false },
  ])
})

test('without a terminal a short step says nothing, a long one says when it began and when it ended', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const pass = (ms: number) => {
    nowMs += ms
    t.mock.timers.tick(ms)
  }
  const stream = new PassThrough()
  const { show } = createRenderer(stream)
  show({ kind: 'begin', title: 'Short' })
  pass(900)
  show({ kind: 'end', ok: true })
  show({ kind: 'begin', title: 'Long' })
  pass(1_000)
  pass(10_000)
  show({ kind: 'end', ok: false })
  assert.equal(String(stream.read()), 'Long …\nLong … 11 s\nLong: failed after 11.0 s\n')
})
