import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newPrefixedId } from '@toolyard/contract/ids'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { projectRoot } from '../../services/installation/installation.ts'
import { startInstallation } from '../fixtures/start-installation.ts'
import { prompt } from '../prompt.ts'
import { schedule } from '../schedule.ts'

// What docs/schedules.md says under `<!-- run -->` is typed here, beside an installation whose cron tool has the trigger
// of the page. Its patterns are tested with the rules, in libs/schedules.

const page = readFileSync(join(projectRoot, 'docs/schedules.md'), 'utf8')

const blocks = [...page.matchAll(/^<!-- run -->\n```sh\n([^]*?)\n```$/gm)].map(([, text = '']) => text)

const trigger = z
  .looseObject({ type: z.literal('cron') })
  .parse(JSON.parse(/^<!-- trigger -->\n```json\n([^]*?)^```$/m.exec(page)?.[1] ?? ''))

const tools = [
  { name: 'reminders', trigger },
  {
    name: 'telegram',
    trigger: { type: 'on_demand' },
    parameters: { message: { type: 'string', required: true } },
    notification: { default_enabled: true },
  },
]

test('the lines of the page work as they stand', async (t) => {
  const installation = await startInstallation(t, { tools, kinds: ['api', 'worker', 'scheduler'] })
  const { api, pool, url, folder } = installation
  const id = newPrefixedId('prm')
  await pool.query(
    `insert into prompts (id, tool, invocation_id, tick_at, priority, text)
     values ($1, 'reminders', 'inv_1', clock_timestamp(), 1, 'Check')`,
    [id],
  )
  await waitUntil('the schedule', async () => api.call('/schedules/reminders').catch(() => undefined), 30_000)
  const lines = blocks.flatMap((block) => block.split('\n'))
  assert.equal(lines.length, (page.match(/^(?:curl|\.\/yard) /gm) ?? []).length)
  const said = lines.map((line) => {
    const typed = line
      .replace(/^curl /, 'curl --silent --show-error --fail-with-body ')
      .replace(/^\.\/yard /, `${process.execPath} ${join(projectRoot, 'scripts/yard.ts')} `)
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('.toolyard/', `${folder}/`)
      .replaceAll('prm_ID', id)
      // The page names a day that is long ago by now.
      .replace('2026-11-20T08:00:00Z', new Date(Date.now() - 86_400_000).toISOString())
    const env = { ...process.env, NO_COLOR: '1', ...installation.environment }
    return { line, answer: execFileSync('sh', ['-c', typed], { encoding: 'utf8', env }) }
  })
  const answerTo = (words: string) =>
    said.find(({ line }) => line.includes(words))?.answer ?? assert.fail(words)

  const changed = JSON.parse(answerTo('-X PATCH'))
  assert.deepEqual(
    [changed.timezone, changed.overlap, changed.next.length],
    ['Europe/Berlin', 'buffer_one', 5],
  )
  assert.equal(JSON.parse(answerTo('/trigger')).fate, 'fired')
  assert.equal(JSON.parse(answerTo('/pause ')).paused.reason, 'the calendar is being moved')
  assert.equal(JSON.parse(answerTo('/resume')).paused, null)
  assert.match(answerTo('backfill'), /^\d+ times of reminders run now or wait to, \d+ had run/)
  assert.equal(JSON.parse(answerTo('/prompts/claim')).prompts[0].id, id)
  assert.deepEqual(JSON.parse(answerTo('/ack')), { id, already: false })
  const notified = JSON.parse(answerTo('/notifications'))
  assert.deepEqual([notified.invocations[0].tool, notified.skipped], ['telegram', []])

  assert.match(
    answerTo('schedule list'),
    /^reminders {2}0 8 \* \* MON-FRI Europe\/Berlin {2}\d{4}-.*T08:00:00\+0[12]:00/m,
  )
  assert.match(answerTo('schedule show'), /^ {2}set here +.*overlap/m)
  assert.match(answerTo('schedule show'), /^\S+Z {2}manual +fired/m)
  assert.match(answerTo('schedule set'), /^reminders is changed\nnext\n {2}\S+T07:00:00\+00:00\n/)
  assert.match(answerTo('schedule trigger'), /^reminders is called: inv_\w+$/m)
  assert.equal(answerTo('schedule pause'), 'reminders is paused\n')
  assert.match(answerTo('schedule resume'), /^reminders goes on\nnext\n/)
  for (const words of ['prompt list', 'prompt claim']) assert.equal(answerTo(words), 'There is no prompt\n')
  assert.equal(answerTo('prompt ack'), 'It was acknowledged already\n')

  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(await api.call('/openapi.json'))
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const ours = routes.filter((route) => /^\w+ \/(?:schedules|prompts|notifications)\b/.test(route))
  assert.equal(ours.length, 11)
  for (const route of ours) assert.ok(page.includes(`| \`${route}\` |`), route)
})

test('the page names every member of a trigger, and commands that exist', async () => {
  const schema = JSON.parse(readFileSync(join(projectRoot, 'tools/manifest.schema.json'), 'utf8'))
  const triggers: { properties: Record<string, { const?: string }> }[] =
    schema.properties.trigger.oneOf ?? schema.properties.trigger.anyOf
  const cron = triggers.find(({ properties }) => properties['type']?.const === 'cron')
  const members = Object.keys(cron?.properties ?? {}).filter((name) => name !== 'type')
  assert.ok(members.length >= 6)
  for (const name of members) assert.match(page, new RegExp(`^\\| \`${name}\` \\|`, 'm'))
  for (const [command, run] of Object.entries({ schedule, prompt })) {
    const words = [...page.matchAll(new RegExp(`^\\./yard ${command} (\\w+)`, 'gm'))].map(
      ([, word = '']) => word,
    )
    assert.ok(words.length >= 3)
    for (const word of words) assert.equal(await run([word, '--help']), 0, `${command} ${word}`)
  }
})
