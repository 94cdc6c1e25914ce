import assert from 'node:assert/strict'
import { open, readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { frame } from './testing/frames.ts'
import { createYard, finished, type Yard } from './testing/sandbox.ts'

let yard: Yard
before(async () => {
  yard = await createYard()
})
after(async () => {
  await yard?.remove()
})

/** Starts a tool and waits for its first output. */
async function startWaiting(how: string, options = {}) {
  const sandbox = yard.start()
  await sandbox.expect('H')
  sandbox.request({ payload: `wait ${how}`, reuse: true, ...options })
  await sandbox.expect('S')
  assert.equal((await sandbox.expect('O')).toString(), 'ready')
  return sandbox
}

test('a tool that ignores SIGTERM is killed 500 ms after its deadline', async () => {
  const sandbox = await startWaiting('stubbornly', { deadlineMs: 200 })
  const run = finished(await sandbox.outcome())
  assert.deepEqual([run.verdict, run.signal], ['timed_out', 9])
  assert.ok(run.wallUs >= 700_000 && run.wallUs < 800_000, `${run.wallUs} us`)
})

test('a tool that has closed its output and lives on is killed all the same', async () => {
  const sandbox = await startWaiting('closed', { deadlineMs: 100 })
  assert.equal(finished(await sandbox.outcome()).verdict, 'timed_out')
})

test('a tool that has stopped itself is killed all the same', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'wait stopped', deadlineMs: 50 }))
  assert.deepEqual([run.verdict, run.signal], ['timed_out', 9])
})

test('a tool that ends itself on SIGTERM keeps its last words, and has timed out', async () => {
  const sandbox = await startWaiting('politely', { deadlineMs: 100 })
  const run = finished(await sandbox.outcome())
  assert.deepEqual([run.verdict, run.code, run.out.toString()], ['timed_out', 3, 'bye'])
  assert.ok(run.wallUs < 400_000)
})

test('a cancel ends the run, and one that comes too late hits nobody', async () => {
  const sandbox = await startWaiting('politely')
  sandbox.send(frame('C'))
  assert.equal(finished(await sandbox.outcome()).verdict, 'cancelled')
  sandbox.send(frame('C'))
  await sandbox.expect('A')
  sandbox.send(frame('C'))
  assert.equal(finished(await sandbox.run({ payload: 'leave 0', reuse: true })).verdict, 'exited')
})

test('endless stdout: exactly the cap arrives, then the end', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'pour o -1', stdoutCap: 1_000_001 }))
  assert.deepEqual([run.verdict, run.out.length, run.stdoutBytes], ['output_too_large', 1_000_001, 1_000_001])
})

test('the cap itself is allowed, one byte more is too much, also from a tool that has left', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  for (const [stdoutCap, verdict] of [
    [100, 'exited'],
    [99, 'output_too_large'],
  ] as const) {
    const run = finished(await sandbox.run({ payload: `echo ${'x'.repeat(100)}`, stdoutCap, reuse: true }))
    assert.deepEqual([run.verdict, run.out.length, run.code], [verdict, stdoutCap, 0])
    await sandbox.expect('A')
  }
})

test('a flood on stderr is dropped over its cap, counted, and never blocks or kills', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'pour e 50000000', stderrCap: 1000 }))
  assert.deepEqual(
    [run.verdict, run.out.toString(), run.err.length, run.stderrDropped],
    ['exited', 'done', 1000, 49_999_000],
  )
})

test('with a cap of zero nothing of stderr is sent', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'pour e 70000', stderrCap: 0 }))
  assert.deepEqual([run.err.length, run.stderrBytes, run.stderrDropped], [0, 0, 70_000])
})

test('a host that does not read delays neither the deadline nor the flood on stderr', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  sandbox.child.stdout.pause()
  sandbox.request({ payload: 'pour o -1', stdoutCap: 64 << 20, deadlineMs: 300, reuse: true })
  const pid = await sandbox.hostPid()
  const hasTool = async () => (await childrenOf(pid)).length > 0
  await waitUntil('the tool runs', hasTool)
  const began = performance.now()
  await waitUntil('the tool is dead', async () => !(await hasTool()))
  assert.ok(performance.now() - began < 1200)
  sandbox.child.stdout.resume()
  const run = finished(await sandbox.outcome())
  assert.equal(run.verdict, 'timed_out')
  assert.equal(run.out.length, run.stdoutBytes)
})

test('a slow host loses nothing of a large output', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  sandbox.request({ payload: 'pour o 20000000', stdoutCap: 32 << 20 })
  await sandbox.expect('S')
  let received = 0
  for (;;) {
    const { kind, body } = await sandbox.next()
    await new Promise(setImmediate)
    if (kind === 'X') break
    assert.ok(body.length > 0 && body.length <= 65_536)
    received += body.length
  }
  assert.equal(received, 20_000_004)
})

test('a pipe that somebody outside holds open does not hold up the report, which says so', async () => {
  const sandbox = await startWaiting('politely')
  const [tool] = await childrenOf(await sandbox.hostPid())
  const holder = await open(`/proc/${tool}/fd/1`, 'w')
  try {
    sandbox.send(frame('C'))
    const run = finished(await sandbox.outcome())
    assert.deepEqual([run.verdict, run.out.toString(), run.incomplete], ['cancelled', 'bye', true])
  } finally {
    await holder.close()
  }
})

test('silence during a run ends the sandbox; any frame breaks it', async () => {
  const sandbox = await startWaiting('stubbornly', { silenceMs: 300 })
  const alive = setInterval(() => sandbox.send(frame('K')), 50)
  const began = performance.now()
  await waitUntil('three silences are over', () => performance.now() - began > 900)
  assert.equal(sandbox.child.exitCode, null)
  clearInterval(alive)
  assert.equal(await sandbox.ended, 71)
})

test('silence ends the sandbox also when the host has stopped reading', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  sandbox.child.stdout.pause()
  sandbox.request({ payload: 'pour o 3000000', stdoutCap: 4 << 20, silenceMs: 200 })
  await new Promise((resolve) => sandbox.child.once('exit', resolve))
  assert.equal(sandbox.child.exitCode, 71)
  sandbox.child.stdout.resume()
})

test('an idle sandbox needs no keep-alive', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  finished(await sandbox.run({ payload: 'leave 0', silenceMs: 50, reuse: true }))
  await sandbox.expect('A')
  const began = performance.now()
  await waitUntil('many silences are over', () => performance.now() - began > 300)
  assert.equal(finished(await sandbox.run({ payload: 'leave 5', reuse: true })).code, 5)
})

test('a closed stdin ends the sandbox: with 0 while idle, with 70 during a run or inside of a frame', async () => {
  const idle = yard.start()
  await idle.expect('H')
  assert.equal(await idle.close(), 0)
  const running = await startWaiting('stubbornly')
  assert.equal(await running.close(), 70)
  const inside = yard.start()
  await inside.expect('H')
  inside.send(frame('R', Buffer.alloc(100)).subarray(0, 50))
  assert.equal(await inside.close(), 70)
})

test('a closed stdout ends the sandbox', async () => {
  const sandbox = await startWaiting('stubbornly')
  sandbox.child.stdout.destroy()
  sandbox.child.stdin.write(frame('K'))
  await new Promise((resolve) => sandbox.child.once('exit', resolve))
  assert.equal(sandbox.child.exitCode, 73)
})

async function childrenOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean)
}
