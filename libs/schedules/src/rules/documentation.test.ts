import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { localTime } from './local-time.ts'
import { readSchedule } from './schedule.ts'
import { ticksBetween } from './ticks.ts'

// Under `<!-- due: zone from a to b -->` docs/schedules.md names a pattern and all its ticks, in the times of the zone;
// the rows under `<!-- refused -->` are patterns and their answers.

const page = readFileSync(join(import.meta.dirname, '../../../../docs/schedules.md'), 'utf8')

const due = [...page.matchAll(/^<!-- due: (\S+) from (\S+) to (\S+) -->\n```\n([^]*?)\n```$/gm)]

test('the examples of the page are due as it says', () => {
  assert.equal(due.length, (page.match(/^<!-- due/gm) ?? []).length)
  assert.ok(due.length >= 6)
  for (const [, timezone = '', from = '', to = '', text = ''] of due) {
    const [pattern = '', ...expected] = text.split('\n')
    const read = readSchedule(pattern, timezone)
    assert.ok('schedule' in read, pattern)
    const { schedule } = read
    // A window of two days more holds the times of the zone whatever its offset; it is cut by what the clock shows.
    const found = ticksBetween(schedule, dayFrom(from, -1), dayFrom(to, 1), 1_000)
      .map((tick) => localTime(schedule, tick))
      .filter((time) => time.slice(0, 16) >= from && time.slice(0, 16) <= to)
    assert.deepEqual(
      found.map((time) => time.replace(/^(.{10})T(.{5}):00(.{6})$/, '$1 $2 $3')),
      expected,
      `${pattern} in ${timezone}`,
    )
  }
})

const dayFrom = (text: string, days: number) => new Date(Date.parse(`${text}Z`) + days * 86_400_000)

test('the patterns that the page calls refused are, with its answers', () => {
  const table = /^<!-- refused -->\n\|.*\n\|.*\n((?:\|.*\n)+)/m.exec(page)?.[1] ?? ''
  const rows = [...table.matchAll(/^\| `(.+?)` \| (.+) \|$/gm)]
  assert.ok(rows.length >= 5)
  for (const [, text = '', answer = ''] of rows) {
    const read = readSchedule(text, 'UTC')
    assert.ok('faults' in read, text)
    assert.equal(read.faults.map(({ detail }) => detail).join('; '), answer.replaceAll('\\*', '*'))
  }
})

test('every other pattern of the page is taken', () => {
  const withoutRefused = page.replace(/^<!-- refused -->\n(?:\|.*\n)+/m, '')
  const patterns = [...withoutRefused.matchAll(/`((?:[\d*/,?L-]+ ){4,5}[\w*/,#-]+|\*\/\d+|@(?!reboot)\w+)`/g)]
  assert.ok(patterns.length > 15, `${patterns.length}`)
  for (const [, text = ''] of patterns) assert.ok('schedule' in readSchedule(text, 'UTC'), text)
})
