import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeRig, Rig } from './rig.ts'
import { openSandboxes, request, runOnce, takeOne, told } from './rig.ts'

export function testLoss(makeRig: MakeRig): void {
  test('an engine that is lost during a run is told as such, and its sandbox dies by itself', async (t) => {
    const rig = await makeRig()
    const { sandboxes, stuck } = await openSandboxes(t, rig)
    const sandbox = await takeOne(sandboxes, rig.probe)
    const onStderr = () => rig.cut()
    const outcome = await sandbox.run(request('live 60000', { timeoutMs: 60_000, onStderr }))
    assert.equal(outcome.kind, 'engine_lost')
    assert.equal(outcome.isHandedOver, true)
    assert.equal(outcome.stderrTail.toString(), 'one\n')
    const during = await sandboxes.take(rig.probe, { topic: 't' })
    assert.equal(during.kind, 'engine_lost')
    await sandbox.release()
    assert.deepEqual(
      stuck.map(({ id }) => id).filter((id) => id === sandbox.id),
      [sandbox.id],
    )
    await waitUntil('it to die', async () => !(await isAlive(rig, sandbox.id)), 10_000)
    rig.mend()
    assert.equal((await runOnce(sandboxes, rig.probe, 'print back')).stdout.toString(), 'back')
    // What could not be removed then is left to the sweep, here by a worker that takes the first for dead.
    const sweeper = rig.open({ worker: 'w3', onStuck: () => {} })
    await sweeper.sweep(new Set())
    await sweeper.close()
  })

  test('a sandbox killed from outside is not the end of the others, and is not taken for a tool that exited well', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const [killed, other] = await Promise.all([takeOne(sandboxes, rig.probe), takeOne(sandboxes, rig.probe)])
    const onStderr = () => void rig.kill(killed.id)
    const [outcome, well] = await Promise.all([
      killed.run(request('live 60000', { onStderr })),
      other.run(request('live 500')),
    ])
    assert.ok(outcome.kind === 'exited' && outcome.signal === 'SIGKILL', told(outcome))
    assert.ok(well.kind === 'exited' && well.code === 0)
    await Promise.all([killed.release(), other.release()])
    const idle = await takeOne(sandboxes, rig.probe)
    await rig.kill(idle.id)
    const lost = await idle.run(request('print x'))
    assert.equal(lost.kind, 'engine_lost')
    await idle.release()
  })

  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
    test(`a worker hit by ${signal} in the middle of a run: its sandbox is dead within 10 s`, async (t) => {
      const rig = await makeRig()
      const { sandboxes } = await openSandboxes(t, rig)
      const { worker, id } = await runningWorker(t, rig, 'w2')
      assert.equal(await isAlive(rig, id), true)
      worker.kill(signal)
      await waitUntil('its sandbox to die', async () => !(await isAlive(rig, id)), 10_000)
      const report = await sandboxes.sweep(new Set(['w1']))
      assert.deepEqual(report.stuck, [])
      assert.deepEqual(await rig.list(), [])
    })
  }

  test('a sweep takes from dead workers and leaves the living alone', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig, { isCoreWanted: () => true })
    const mine = await takeOne(sandboxes, rig.probe)
    const { worker, id } = await runningWorker(t, rig, 'w2')
    assert.equal((await rig.list()).length, 2)
    assert.deepEqual(await sandboxes.sweep(new Set(['w2'])), { removed: [], stuck: [] })
    const report = await sandboxes.sweep(new Set(['w1']))
    assert.equal(report.removed.length, 1)
    assert.deepEqual(
      (await rig.list()).map((one) => one.id),
      [mine.id],
    )
    assert.notEqual(mine.id, id)
    worker.kill('SIGKILL')
    assert.equal((await mine.run(request('print mine'))).stdout.toString(), 'mine')
    await mine.release()
  })

  test('neither payload nor environment is in anything that the engine tells', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const canary = randomUUID()
    for (const input of ['argument', 'stdin'] as const) {
      const sandbox = await takeOne(sandboxes, { ...rig.probe, input, reuse: 2 })
      const during: Promise<string>[] = []
      const onStderr = () => during.push(rig.records(sandbox.id))
      const payload = input === 'argument' ? `live 300 ${canary}` : canary
      const outcome = await sandbox.run(request(payload, { env: { CANARY: canary }, onStderr }))
      assert.equal(outcome.kind, 'exited')
      const records = [...(await Promise.all(during)), await rig.records(sandbox.id)]
      for (const record of records) {
        assert.match(record, /toolyard/)
        assert.ok(!record.includes(canary))
        assert.ok(!record.includes(Buffer.from(canary).toString('base64').slice(0, 40)))
      }
      await sandbox.release()
    }
  })
}

async function isAlive(rig: Rig, id: string): Promise<boolean> {
  return (await rig.list()).some((one) => one.id === id && one.isAlive)
}

async function runningWorker(t: TestContext, rig: Rig, name: string) {
  const worker = rig.startWorker(name, 'live 600000')
  t.after(() => worker.kill('SIGKILL'))
  assert.ok(worker.stdout)
  const [said] = await once(worker.stdout, 'data')
  const id = /^running (\S+)/.exec(String(said))?.[1]
  assert.ok(id, String(said))
  return { worker, id }
}
