import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { succeeded, testYard } from '../fixtures/yard.ts'
import { callsOf } from './fixtures/calls-of.ts'
import { killProcess } from './fixtures/kill-process.ts'
import { shellTool, writeTool } from './fixtures/write-tool.ts'

// The trigger as people already have it, and a tool that keeps a state from one run to the next.

const runner = `count=$(base64 -d <<< "$1" | jq '(.params._state.count // 0) + 1')
jq -cn --argjson count "$count" '{text: "run \\($count)", priority: "critical", _state: {count: $count}}'
`
const trigger = {
  type: 'cron',
  schedule: '*/30',
  prompt: 'Check for any overdue reminders and summarize them:',
}

test('a cron tool leaves a prompt that is claimed and acknowledged, its state is kept, and its clock rings', async (t) => {
  const yard = await testYard(t)
  writeTool(yard.toolDir, 'overdue', shellTool(runner), { trigger })
  const pulse = { ...trigger, schedule: '* * * * * *', prompt: 'Pulse:' }
  writeTool(yard.toolDir, 'pulse', shellTool(`echo '{"text":"beat","notify":false}'\n`), { trigger: pulse })
  succeeded(await yard.run(['up', '--detach']))
  const call = callsOf(yard)

  const listed = await waitUntil('both schedules', async () => {
    const { schedules } = await call('GET', '/schedules')
    return schedules?.length === 2 ? schedules : undefined
  })
  const overdue = listed.find(({ tool }: { tool: string }) => tool === 'overdue')
  assert.equal(overdue.schedule, '*/30')
  assert.equal(overdue.next.length, 5)
  assert.ok(
    overdue.next.every(({ at }: { at: string }) => /:[03]0:00\.000Z$/.test(at)),
    JSON.stringify(overdue.next),
  )

  await waitUntil(
    'its image',
    async () => (await call('GET', '/tools/overdue')).image.state === 'ready',
    120_000,
  )
  for (const run of [1, 2]) {
    const { fate } = await call('POST', '/schedules/overdue/trigger', {})
    assert.equal(fate, 'fired')
    const [prompt] = await waitUntil(`prompt ${run}`, async () => {
      const { prompts } = await call('POST', '/prompts/claim', {})
      return prompts.length > 0 ? prompts : undefined
    })
    assert.deepEqual(
      [prompt.tool, prompt.priority, prompt.prompt],
      ['overdue', 'critical', `${trigger.prompt}\n\n--- Tool Data ---\nrun ${run}`],
    )
    const acked = await call('POST', `/prompts/${prompt.id}/ack`, { claim: prompt.claim })
    assert.deepEqual(acked, { id: prompt.id, already: false })
  }

  const ticks = await waitUntil(
    'runs of the clock',
    async () => {
      const schedule = await call('GET', '/schedules/pulse')
      return schedule.ticks.some(({ status }: { status: string }) => status === 'succeeded')
        ? schedule.ticks
        : undefined
    },
    120_000,
  )
  assert.ok(ticks.every(({ origin }: { origin: string }) => origin === 'schedule'))
  assert.deepEqual((await call('POST', '/prompts/claim', {})).prompts, [], 'notify: false leaves none')
})

test('a scheduler that is killed and a database that is killed lose no tick and bring none twice', async (t) => {
  const yard = await testYard(t)
  const pulse = { ...trigger, schedule: '* * * * * *', overlap: 'allow' }
  const manifest = { trigger: pulse, sandbox: { network: 'none', reuse: 1_000 } }
  writeTool(yard.toolDir, 'pulse', shellTool(`echo '{"text":"beat","notify":false}'\n`), manifest)
  succeeded(await yard.run(['up', '--detach']))
  const call = callsOf(yard)
  type ShownTick = { tick_at: string; fate: string; status: string | null }
  const ticks = async (): Promise<ShownTick[]> => (await call('GET', '/schedules/pulse')).ticks
  const runs = (since: number) =>
    waitUntil(
      'a run of a later second',
      async () => {
        const shown = await ticks().catch(() => [])
        return shown.some(({ tick_at: at, status }) => Date.parse(at) > since && status === 'succeeded')
      },
      120_000,
    )
  await runs(0)
  const firstAtMs = Date.now()
  killProcess(yard, /apps\/scheduler\/src\/main\.ts/)
  await runs(Date.now())
  killProcess(yard, /postgres -D|bin\/postgres/)
  await runs(Date.now() + 1_000)
  const seconds = (await ticks()).map(({ tick_at: at }) => Date.parse(at)).toSorted((a, b) => a - b)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => (seconds[0] ?? 0) + index * 1_000),
  )
  assert.ok((seconds[0] ?? Infinity) <= firstAtMs + 5_000 || seconds.length === 20)
  assert.ok((await ticks()).every(({ fate }) => fate === 'fired'))
})
