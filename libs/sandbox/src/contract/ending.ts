import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeRig } from './rig.ts'
import { openSandboxes, request, runOnce, takeOne, told } from './rig.ts'

export function testEnding(makeRig: MakeRig): void {
  test('the deadline kills within 600 ms, also what ignores SIGTERM, and keeps what was said', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    for (const payload of ['sleep 60000', 'stubborn 60000']) {
      const sandbox = await takeOne(sandboxes, rig.probe)
      const startedAt = performance.now()
      const outcome = await sandbox.run(request(payload, { timeoutMs: 300 }))
      const tookMs = performance.now() - startedAt
      assert.equal(outcome.kind, 'timed_out')
      assert.ok(tookMs >= 300 && tookMs < 900, `${payload} took ${tookMs} ms`)
      assert.match(outcome.stdout.toString(), /^(sleeping|stubborn)$/)
      await sandbox.release()
    }
  })

  test('a process that outlives its parent dies with the run', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const outcome = await runOnce(sandboxes, rig.probe, 'daemon')
    assert.equal(`${outcome.kind} ${String(outcome.stdout)}`, 'exited left')
    assert.ok(outcome.wallMs < 2_000)
  })

  test('a cancel ends a run at once, and one that came before it began too', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const controller = new AbortController()
    const sandbox = await takeOne(sandboxes, rig.probe)
    let abortedAt = 0
    const onStderr = () => {
      abortedAt = performance.now()
      controller.abort()
    }
    const outcome = await sandbox.run(request('live 60000', { signal: controller.signal, onStderr }))
    assert.equal(outcome.kind, 'cancelled')
    assert.ok(performance.now() - abortedAt < 600)
    await sandbox.release()
    const early = await runOnce(sandboxes, rig.probe, 'sleep 60000', { signal: AbortSignal.abort() })
    assert.equal(early.kind, 'cancelled')
  })

  test('who waits for a sandbox can give up, and what was started for him serves the next', async (t) => {
    const rig = await makeRig()
    const { sandboxes, events } = await openSandboxes(t, rig)
    const controller = new AbortController()
    const waiting = sandboxes.take(rig.probe, { topic: 'topic', signal: controller.signal })
    controller.abort()
    assert.deepEqual(await waiting, { kind: 'cancelled' })
    await waitUntil('the start to end', () => events.some(({ kind }) => kind === 'started'))
    const sandbox = await takeOne(sandboxes, rig.probe)
    assert.equal(sandbox.source, 'stock')
    await sandbox.release()
    const never = await sandboxes.take(rig.probe, { topic: 'topic', signal: AbortSignal.abort() })
    assert.deepEqual(never, { kind: 'cancelled' })
  })

  test('memory over the limit, stdout over the cap and a missing program are told apart', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const hog = await runOnce(sandboxes, { ...rig.probe, memoryBytes: 33_554_432 }, 'hog 100')
    assert.equal(hog.kind, 'out_of_memory')
    const loud = await runOnce(sandboxes, rig.probe, 'pattern 1048577')
    assert.equal(loud.kind, 'output_too_large')
    assert.equal(loud.stdout.length, 1_048_576)
    const nowhere = await runOnce(sandboxes, { ...rig.probe, entrypoint: ['/nowhere'] }, 'print x')
    assert.ok(nowhere.kind === 'start_failed' && nowhere.reason === 'entrypoint', told(nowhere))
    assert.equal(nowhere.isHandedOver, false)
    const folder = await runOnce(sandboxes, { ...rig.probe, entrypoint: ['/proc'] }, 'print x')
    assert.ok(folder.kind === 'start_failed' && folder.reason === 'entrypoint', told(folder))
  })

  test('an image that is not there and a wish that is not allowed are answers, to everybody who waits', async (t) => {
    const rig = await makeRig()
    const { sandboxes, events } = await openSandboxes(t, rig)
    const missing = { ...rig.probe, image: rig.missingImage }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => sandboxes.take(missing, { topic: 't' })),
    )
    assert.ok(answers.every(({ kind }) => kind === 'image_missing'))
    assert.ok(events.length <= 9)
    const host = await sandboxes.take({ ...rig.probe, network: 'host' }, { topic: 't' })
    assert.ok(host.kind === 'start_failed' && host.reason === 'refused')
  })
}
