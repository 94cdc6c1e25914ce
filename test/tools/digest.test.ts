import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTool } from './fixtures/run-tool.ts'

const reminders = [
  '2026-02-27 Call {Ada} <b>',
  '02-29 Leap day',
  '31. Pay the rent',
  'fri Water the plants',
  'daily Take a walk',
  '2026-01-01 Write cards',
  '# a remark',
  'tomorrow Nobody knows',
  '2026-02-30 Never',
].join('\n')

test('what is due today and soon is told, and what is past or cannot be read', async (t) => {
  const tool = await openTool(t, 'digest')
  const { text, html } = await tool.succeed({ date: '2026-02-27', days: 2 }, { settings: { reminders } })
  assert.equal(
    text,
    [
      'Friday, 27 February 2026, week 9, day 58 of the year, 307 left in it.',
      'Due today:',
      '- Call (Ada) <b>',
      '- Water the plants',
      '- Take a walk',
      'In the next 2 days:',
      '- Sat, 28 Feb: Leap day',
      '- Sat, 28 Feb: Pay the rent',
      '- Sat, 28 Feb: Take a walk',
      '- Sun, 1 Mar: Take a walk',
      'Dated before today:',
      '- 2026-01-01 (57 days ago): Write cards',
      'Reminders not understood, on line 8, 9.',
    ].join('\n'),
  )
  assert.match(html ?? '', /Call \(Ada\) &lt;b&gt;/)
})

test('without settings it tells of today in UTC', async (t) => {
  const tool = await openTool(t, 'digest')
  const days = [new Date()]
  const { data } = await tool.succeed({})
  days.push(new Date())
  // safe because the manifest says what data has, and what is read is compared
  const { date, today } = data as { date: string; today: string[] }
  assert.ok(days.map((day) => day.toISOString().slice(0, 10)).includes(date))
  assert.deepEqual(today, [])
})

test('more reminders than can be told are cut at whole lines', async (t) => {
  const tool = await openTool(t, 'digest')
  const many = Array.from({ length: 160 }, (_, index) => `daily ${index} ${'wörd '.repeat(15)}`).join('\n')
  const { text } = await tool.succeed({ date: '2027-01-01', days: 31 }, { settings: { reminders: many } })
  assert.match(text, /\n… \d+ more lines\.$/)
})

test('a zone or a date that is none is refused', async (t) => {
  const tool = await openTool(t, 'digest')
  assert.match(
    (await tool.fail({}, { settings: { zone: 'Mars/Base' } })).message,
    /'Mars\/Base' is not known/,
  )
  assert.match((await tool.fail({ date: '2026-02-31' })).message, /'2026-02-31' is no date/)
})
