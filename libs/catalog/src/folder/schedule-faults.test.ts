import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { readManifest } from './read-manifest.ts'

const told = async (dir: string, trigger: object) => {
  const manifest = { name: 'clock', description: 'A tool', trigger, parameters: {}, returns: {} }
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest, undefined, 2))
  const read = await readManifest(dir, 'clock')
  return 'faults' in read
    ? read.faults.map(({ pointer, line, detail }) => `${pointer} ${line} ${detail}`)
    : []
}

test('a schedule that cannot be meant and a zone that is none are told with their lines and the mend', async (t) => {
  const dir = temporaryFolder(t)
  const cron = { type: 'cron', prompt: 'p' }
  assert.deepEqual(await told(dir, { ...cron, schedule: '*/90 * * * *', timezone: 'Malta/Europe' }), [
    '/trigger/schedule 7 minute */90 must have a step of at most 60: for every 90 minutes write */90 as the only field',
    '/trigger/timezone 8 must be a time zone, as UTC or Europe/Malta',
  ])
  assert.deepEqual(await told(dir, { ...cron, schedule: '0 0 30 2 *' }), [
    '/trigger/schedule 7 must name a day that comes, not as 30 February: change the day of the month (L is the last) or the month',
  ])
  for (const schedule of ['*/30', '0 8 * * 1-5', '0 0 8 * * *', '  0  8 * * 1 ', '@daily'])
    assert.deepEqual(await told(dir, { ...cron, schedule }), [], schedule)
})

test('a trigger whose shape is wrong is told once', async (t) => {
  const dir = temporaryFolder(t)
  assert.deepEqual(await told(dir, { type: 'cron', schedule: '1 2', prompt: 'p', zone: 'UTC' }), [
    '/trigger/zone 8 "zone" is not known here: remove it, or begin it with "x-"',
  ])
  assert.deepEqual(await told(dir, { type: 'cron', schedule: '' }), [
    '/trigger/prompt 4 is required',
    '/trigger/schedule 6 must have at least 1 characters',
  ])
})
