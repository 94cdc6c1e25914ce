import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeRig } from './rig.ts'
import { openSandboxes, request, runOnce, takeOne } from './rig.ts'

export function testStocking(makeRig: MakeRig): void {
  test('what was asked for is kept ready, handed out once, and made up for', async (t) => {
    const rig = await makeRig()
    const { sandboxes, events } = await openSandboxes(t, rig)
    sandboxes.stock(rig.probe, 2)
    await waitUntil('two', () => sandboxes.counts().ready === 2)
    const taken = await Promise.all([1, 2, 3].map(() => takeOne(sandboxes, rig.probe)))
    assert.deepEqual(taken.map(({ source }) => source).sort(), ['started', 'stock', 'stock'])
    assert.equal(new Set(taken.map(({ id }) => id)).size, 3)
    await Promise.all(
      taken.map(async (sandbox) => {
        await sandbox.run(request('print x'))
        await sandbox.release()
      }),
    )
    await waitUntil('two again', () => sandboxes.counts().ready >= 2)
    const sources = events.flatMap((event) => (event.kind === 'taken' ? [event.source] : []))
    assert.deepEqual(sources.sort(), ['started', 'stock', 'stock'])
    assert.ok(events.every((event) => event.kind !== 'started' || event.startMs > 1))
  })

  test('nothing is started ahead while work waits for a core', async (t) => {
    const rig = await makeRig()
    let isCoreWanted = true
    const { sandboxes, events } = await openSandboxes(t, rig, { isCoreWanted: () => isCoreWanted })
    sandboxes.stock(rig.probe, 1)
    await runOnce(sandboxes, rig.probe, 'sleep 400')
    assert.equal(events.filter(({ kind }) => kind === 'started').length, 1)
    isCoreWanted = false
    await waitUntil('the refill', () => sandboxes.counts().ready === 1)
  })

  test('a ready sandbox that dies is replaced and never handed out', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    sandboxes.stock(rig.probe, 1)
    await waitUntil('one', () => sandboxes.counts().ready === 1)
    const [before] = await rig.list()
    assert.ok(before)
    await rig.kill(before.id)
    await waitUntil('its replacement', async () => {
      const [now] = await rig.list()
      return sandboxes.counts().ready === 1 && now !== undefined && now.id !== before.id
    })
    assert.equal((await runOnce(sandboxes, rig.probe, 'print fine')).stdout.toString(), 'fine')
  })

  test('reuse is for the same tool and topic, so many times and no more', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, reuse: 3 }
    const idsFor = async (topic: string, count: number) => {
      const ids: string[] = []
      for (let i = 0; i < count; i++) {
        const sandbox = await takeOne(sandboxes, spec, { topic })
        ids.push(sandbox.id)
        await sandbox.run(request('print x'))
        await sandbox.release()
      }
      return ids
    }
    const a = await idsFor('a', 2)
    const b = await idsFor('b', 1)
    const more = await idsFor('a', 2)
    assert.equal(new Set([...a, more[0]]).size, 1)
    assert.notEqual(more[1], a[0])
    assert.notEqual(b[0], a[0])
    const otherTool = await takeOne(sandboxes, { ...spec, tool: 'other' }, { topic: 'b' })
    assert.notEqual(otherTool.source, 'reused')
    await otherTool.release()
  })

  test('the next run of a reused sandbox finds nothing of the last', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, reuse: 10, volumes: ['/data'] }
    const first = await takeOne(sandboxes, spec)
    assert.equal(String((await first.run(request('write /tmp/leftover'))).stdout), 'written')
    await first.release()
    for (const path of ['/tmp/leftover', '/dev/shm/leftover', '/dev/mqueue/leftover', '/data/leftover']) {
      for (let round = 0; round < 2; round++) {
        const sandbox = await takeOne(sandboxes, spec)
        assert.equal(sandbox.id, first.id)
        assert.equal(String((await sandbox.run(request(`write ${path}`))).stdout), 'written', path)
        await sandbox.release()
      }
    }
  })

  test('a run that did not end by itself is the last of its sandbox', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, reuse: 10 }
    const ids = new Set<string>()
    for (const payload of ['sleep 60000', 'pattern 2000000', 'hog 200', 'print x', 'exit 1', 'print y']) {
      const sandbox = await takeOne(sandboxes, spec)
      ids.add(sandbox.id)
      await sandbox.run(request(payload, { timeoutMs: 300 }))
      await sandbox.release()
    }
    assert.equal(ids.size, 4)
  })

  test('closing removes what is ready, kept and on its way', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    sandboxes.stock(rig.probe, 2)
    await runOnce(sandboxes, { ...rig.probe, reuse: 5 }, 'print x')
    const waiting = sandboxes.take({ ...rig.probe, tool: 'other' }, { topic: 't' })
    await sandboxes.close()
    assert.deepEqual(await waiting, { kind: 'cancelled' })
    assert.deepEqual(sandboxes.counts(), { ready: 0, kept: 0, launching: 0, waiting: 0 })
    assert.deepEqual(await rig.list(), [])
  })
}
