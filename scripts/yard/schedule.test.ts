import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prompt } from './prompt.ts'
import { schedule } from './schedule.ts'

test('what is typed wrongly ends with 2, before anything is asked', async () => {
  for (const words of [
    [],
    ['lst'],
    ['show'],
    ['show', 'a', 'b'],
    ['show', '../keys'],
    ['trigger'],
    ['pause', 'a'],
    ['resume', ''],
    ['set'],
    ['set', 'a'],
    ['set', 'a', 'prompt=x'],
    ['backfill', 'a'],
    ['backfill', 'a', '--from', 'yesterday'],
    ['backfill', 'a', '--from', '2026-11-21T08:00Z', '--until', '2026-11-21'],
  ])
    assert.equal(await schedule(words), 2, words.join(' '))
  for (const words of [[], ['clam'], ['ack'], ['ack', 'a', 'b']])
    assert.equal(await prompt(words), 2, words.join(' '))
})
