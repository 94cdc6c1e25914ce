import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { MakeRig } from './rig.ts'
import { openSandboxes, pattern, request, runOnce, takeOne, told } from './rig.ts'

export function testRunning(makeRig: MakeRig): void {
  test('the payload comes as one more argument, byte for byte, up to what an argument can hold', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, entrypoint: [...rig.probe.entrypoint, 'two words', 'ünïcode "$x" \\'] }
    const text = randomBytes(99_000)
      .toString('base64')
      .slice(0, 131_071 - 'arguments '.length)
    const outcome = await runOnce(sandboxes, spec, `arguments ${text}`)
    assert.equal(outcome.stdout.toString(), `two words\nünïcode "$x" \\\n${text.length}`)
    const echoed = await runOnce(sandboxes, rig.probe, `print ${text}`)
    assert.ok(echoed.stdout.toString() === text, told(echoed))
    const tooLong = await runOnce(sandboxes, rig.probe, `print ${text}12345`)
    assert.ok(tooLong.kind === 'start_failed' && tooLong.reason === 'payload', told(tooLong))
    assert.equal(tooLong.isHandedOver, false)
  })

  test('the payload comes on stdin where the tool asks for it, megabytes of it', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, input: 'stdin' } as const
    const text = randomBytes(3_500_000).toString('base64')
    const outcome = await runOnce(sandboxes, spec, text, { stdoutMaxBytes: 5_000_000 })
    assert.ok(outcome.stdout.toString() === text, told(outcome))
    const tooLong = await runOnce(sandboxes, spec, 'x'.repeat(6_291_457))
    assert.ok(tooLong.kind === 'start_failed' && tooLong.reason === 'payload')
  })

  test('what the worker says of the call is in the environment, of that run alone', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, reuse: 10 }
    const env = { TOOLYARD_INVOCATION_ID: 'inv_1' }
    assert.equal(
      String((await runOnce(sandboxes, spec, 'env TOOLYARD_INVOCATION_ID', { env })).stdout),
      'inv_1',
    )
    assert.equal(String((await runOnce(sandboxes, spec, 'env TOOLYARD_INVOCATION_ID')).stdout), '(none)')
    assert.equal(String((await runOnce(sandboxes, spec, 'env HOME')).stdout), '/tmp')
  })

  test('large and slow output is whole', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const large = await runOnce(sandboxes, rig.probe, 'pattern 1048576')
    assert.ok(large.stdout.equals(pattern(1_048_576)), told(large))
    assert.equal(large.isOutputComplete, true)
    const slow = await runOnce(sandboxes, rig.probe, 'slow 20')
    assert.ok(slow.stdout.equals(Buffer.concat(Array.from({ length: 20 }, () => pattern(1_000)))))
  })

  test('bytes that are no text come as they are', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const outcome = await runOnce(sandboxes, rig.probe, 'invalid')
    assert.deepEqual(outcome.stdout, Buffer.from('\xff\xfe\x80{"a":"\xc3\x28"}\0\r\n', 'latin1'))
  })

  test('stderr is heard while the tool runs', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const heard: { text: string; at: number }[] = []
    const onStderr = (chunk: Buffer) => heard.push({ text: chunk.toString(), at: performance.now() })
    const outcome = await runOnce(sandboxes, rig.probe, 'live 600', { onStderr })
    assert.deepEqual(
      heard.map(({ text }) => text),
      ['one\n', 'two\n'],
    )
    assert.ok((heard[1]?.at ?? 0) - (heard[0]?.at ?? 0) > 400)
    assert.equal(outcome.stderrTail.toString(), 'one\ntwo\n')
  })

  test('stderr over its cap is counted and dropped, and stops nothing', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    let liveBytes = 0
    const onStderr = (chunk: Buffer) => (liveBytes += chunk.length)
    const outcome = await runOnce(sandboxes, rig.probe, 'errors 1000000', { onStderr })
    assert.equal(outcome.kind, 'exited')
    assert.equal(outcome.stdout.toString(), 'done')
    assert.equal(outcome.stderrBytes, 1_000_000)
    assert.ok(liveBytes <= 262_144)
    assert.ok(outcome.stderrTail.equals(pattern(262_144).subarray(-8_192)))
  })

  test('code, signal, times and memory of a run are told', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const failed = await runOnce(sandboxes, rig.probe, 'exit 7')
    assert.ok(failed.kind === 'exited' && failed.code === 7 && failed.signal === undefined)
    const aborted = await runOnce(sandboxes, rig.probe, 'raise 6')
    assert.ok(aborted.kind === 'exited' && aborted.code === 134 && aborted.signal === 'SIGABRT')
    const worked = await runOnce(sandboxes, rig.probe, 'hog 20')
    assert.ok((worked.memoryPeakBytes ?? 0) > 20 * 1_048_576)
    assert.ok((worked.cpuMs ?? 0) > 0 && worked.wallMs >= (worked.cpuMs ?? 0) / 2)
    assert.equal(worked.isHandedOver, true)
  })

  test('a sandbox runs once each time it is taken, and may be released unused', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const sandbox = await takeOne(sandboxes, rig.probe)
    const first = sandbox.run(request('print once'))
    assert.throws(() => sandbox.run(request('print twice')), /once/)
    assert.equal((await first).stdout.toString(), 'once')
    await Promise.all([sandbox.release(), sandbox.release()])
    const unused = await takeOne(sandboxes, rig.probe)
    await unused.release()
    assert.throws(() => unused.run(request('print late')), /once/)
    assert.equal((await runOnce(sandboxes, rig.probe, 'print next')).stdout.toString(), 'next')
  })

  test('200 fresh runs that print and exit at once lose nothing', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const ids = new Set<string>()
    await inParallel(4, 200, async (number) => {
      const sandbox = await takeOne(sandboxes, rig.probe)
      ids.add(sandbox.id)
      const outcome = await sandbox.run(request(`print run ${number}`))
      assert.equal(`${outcome.kind} ${String(outcome.stdout)}`, `exited run ${number}`)
      await sandbox.release()
    })
    assert.equal(ids.size, 200)
  })

  test('5,000 reused runs that print and exit at once lose nothing', async (t) => {
    const rig = await makeRig()
    const { sandboxes } = await openSandboxes(t, rig)
    const spec = { ...rig.probe, reuse: 1_000 }
    const ids = new Set<string>()
    await inParallel(4, 5_000, async (number) => {
      const sandbox = await takeOne(sandboxes, spec)
      ids.add(sandbox.id)
      const outcome = await sandbox.run(request(`print run ${number}`))
      assert.equal(`${outcome.kind} ${String(outcome.stdout)}`, `exited run ${number}`)
      await sandbox.release()
    })
    assert.ok(ids.size >= 5 && ids.size <= 10, `${ids.size} sandboxes`)
  })
}

async function inParallel(
  width: number,
  count: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}
