import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, fakeEngine } from '../fixtures/fake-engine.ts'
import { EngineError, callEngine } from './engine-error.ts'
import type { Sweep } from './sweep-containers.ts'
import { isStray, sweepContainers } from './sweep-containers.ts'

const now = 1_800_000_000_000
const sweep: Sweep = {
  instance: 'i1',
  worker: 'w1',
  liveWorkers: new Set(['w2']),
  known: new Set(['toolyard-known']),
}
const container = (change: {
  worker?: string
  instance?: string
  name?: string
  state?: string
  ageMs?: number
}) => ({
  Id: change.name ?? 'toolyard-x',
  Labels: { 'toolyard.instance': change.instance ?? 'i1', 'toolyard.worker': change.worker ?? 'w3' },
  Names: [`/${change.name ?? 'toolyard-x'}`],
  State: change.state ?? 'running',
  Created: (now - (change.ageMs ?? 0)) / 1_000,
})

test('only what nobody looks after is a stray', () => {
  const cases = [
    { change: {}, stray: true },
    { change: { instance: 'i2' }, stray: false },
    { change: { name: 'somebody-elses' }, stray: false },
    { change: { worker: 'w2' }, stray: false },
    { change: { worker: 'w2', ageMs: 999_000 }, stray: false },
    { change: { worker: 'w2', state: 'created', ageMs: 59_000 }, stray: false },
    { change: { worker: 'w2', state: 'created', ageMs: 61_000 }, stray: true },
    { change: { worker: 'w1', ageMs: 59_000 }, stray: false },
    { change: { worker: 'w1', ageMs: 61_000 }, stray: true },
    { change: { worker: 'w1', ageMs: 61_000, name: 'toolyard-known' }, stray: false },
  ]
  for (const { change, stray } of cases)
    assert.equal(isStray(container(change), sweep, now), stray, JSON.stringify(change))
})

test('what the engine cannot remove is reported, and does not keep the rest', async (t) => {
  const names = Array.from({ length: 12 }, (_, i) => `toolyard-${i}`)
  const removed: string[] = []
  const docker = await fakeEngine(t, (request, response) => {
    const name = /^\/containers\/(toolyard-\d+)\?/.exec(request.url ?? '')?.[1]
    if (request.url === '/info') return answer(response, 200, { SystemTime: new Date(now).toISOString() })
    if (name === undefined)
      return answer(
        response,
        200,
        names.map((one) => container({ name: one })),
      )
    if (Number(name.slice(9)) % 3 === 0) return answer(response, 500, { message: 'device busy' })
    removed.push(name)
    return answer(response, name === 'toolyard-1' ? 404 : 204, {})
  })
  const report = await sweepContainers(docker, sweep)
  assert.deepEqual(report.removed.toSorted(), removed.toSorted())
  assert.equal(removed.length, 8)
  assert.deepEqual(new Set(report.stuck.map(({ detail }) => detail)), new Set(['device busy']))
  assert.equal(report.stuck.length, 4)
})

test('an engine that accepts a call and never answers costs the timeout', async (t) => {
  const docker = await fakeEngine(t, () => {})
  const startedAt = performance.now()
  await assert.rejects(
    callEngine(100, (abortSignal) => docker.getContainer('x').inspect({ abortSignal })),
    (error) => error instanceof EngineError && error.status === undefined && /100 ms/.test(error.message),
  )
  assert.ok(performance.now() - startedAt < 1_000)
})
