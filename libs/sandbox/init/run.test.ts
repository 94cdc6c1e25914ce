import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createYard, finished, type Yard } from './testing/sandbox.ts'

let yard: Yard
before(async () => {
  yard = await createYard()
})
after(async () => {
  await yard?.remove()
})

test('says hello, runs once and leaves with 0', async () => {
  const sandbox = yard.start()
  const hello = await sandbox.expect('H')
  assert.deepEqual([hello.readUInt32LE(0), hello.readUInt32LE(4), hello.length], [1, 6 << 20, 8])
  const run = finished(await sandbox.run({ payload: 'echo hello', reuse: false }))
  assert.equal(run.out.toString(), 'hello')
  assert.deepEqual([run.verdict, run.code, run.signal, run.incomplete], ['exited', 0, 0, false])
  assert.ok(run.wallUs > 0 && run.peakBytes > 100_000)
  assert.equal(await sandbox.close(), 0)
})

test('an init that has run once takes nothing more, and leaves by itself when nobody closes it', async () => {
  const left = yard.start()
  await left.expect('H')
  finished(await left.run({ payload: 'leave 0', silenceMs: 300 }))
  assert.equal(await left.ended, 0)
  const asked = yard.start()
  await asked.expect('H')
  finished(await asked.run({ payload: 'leave 0' }))
  asked.request({ payload: 'leave 0' })
  assert.equal(await asked.ended, 72)
})

test('the payload is one more argument behind the words of the image', async () => {
  const sandbox = yard.start({ words: ['/bin/tool', 'first', 'second'] })
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'echo one argument, "with" $everything' }))
  assert.equal(run.out.toString(), 'one argument, "with" $everything')
})

test('a program without a slash is looked for on the PATH of the image', async () => {
  const sandbox = yard.start({ words: ['tool'] })
  await sandbox.expect('H')
  assert.equal(finished(await sandbox.run({ payload: 'leave 7' })).code, 7)
})

test('the tool begins with three descriptors, its own session, default signals and the first place under oom', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const environment = ['TOOLYARD_INVOCATION_ID=inv-1', 'HOME=/data']
  const run = finished(await sandbox.run({ payload: 'state', environment, limits: [[6, 4000n]] }))
  const lines = run.out.toString().split('\n')
  for (const line of ['stdin /dev/null', 'leader 1', 'blocking 1', 'oom 1000', 'nproc 4000'])
    assert.ok(lines.includes(line), line)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('fd ')),
    ['fd 0', 'fd 1', 'fd 2'],
  )
  for (const name of ['SigPnd', 'SigBlk', 'SigIgn', 'SigCgt'])
    assert.ok(lines.includes(`${name}:\t0000000000000000`), name)
  assert.ok(
    lines.includes('from yes id inv-1 home /data'),
    'the environment of the container, overlaid with the request',
  )
})

test('six megabytes on stdin arrive unchanged while the tool echoes them', async () => {
  const sandbox = yard.start({ words: ['/bin/tool', 'cat'] })
  await sandbox.expect('H')
  const payload = Buffer.alloc(6 << 20, 'base64 text, ')
  const run = finished(await sandbox.run({ payload, onStdin: true, stdoutCap: 8 << 20 }))
  assert.ok(run.out.equals(payload))
})

test('a payload on stdin that nobody reads does no harm', async () => {
  const sandbox = yard.start({ words: ['/bin/tool', 'leave 4'] })
  await sandbox.expect('H')
  assert.equal(finished(await sandbox.run({ payload: Buffer.alloc(1 << 20, 'x'), onStdin: true })).code, 4)
})

test('the argument may be as long as the kernel allows; one byte more is E2BIG and not a run', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const longest = 'echo '.padEnd(131_071, 'x')
  assert.equal(finished(await sandbox.run({ payload: longest, reuse: true })).stdoutBytes, 131_066)
  await sandbox.expect('A')
  const tooLong = await sandbox.run({ payload: `${longest}x`, reuse: true })
  assert.ok('failure' in tooLong)
  assert.equal(tooLong.failure.errno, 7)
  assert.match(tooLong.failure.text, /cannot start \/bin\/tool: exec: Argument list too long/)
  await sandbox.expect('A')
  assert.equal(finished(await sandbox.run({ payload: 'leave 3', reuse: true })).code, 3)
})

test('what cannot be started is told with its reason', async () => {
  const reasons = [
    { words: ['/no/such/tool'], limits: [], errno: 2 },
    { words: ['/tmp'], limits: [], errno: 13 },
    { words: ['/bin/tool'], limits: [[7, 2n ** 40n]] as const, errno: 1 },
  ]
  for (const { words, limits, errno } of reasons) {
    const sandbox = yard.start({ words })
    await sandbox.expect('H')
    const outcome = await sandbox.run({ payload: 'echo', limits, silenceMs: 300 })
    assert.equal('failure' in outcome && outcome.failure.errno, errno)
    assert.equal(await sandbox.ended, 0)
  }
})

test('exit codes and signals of the main process are told apart', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  for (const [payload, verdict, code, signal] of [
    ['leave 255', 'exited', 255, 0],
    ['die 9', 'signaled', 0, 9],
    ['die 11', 'signaled', 0, 11],
    ['die 15', 'signaled', 0, 15],
  ]) {
    const run = finished(await sandbox.run({ payload: String(payload), reuse: true }))
    assert.deepEqual([run.verdict, run.code, run.signal], [verdict, code, signal])
    await sandbox.expect('A')
  }
})

test('daemons die with the run and hold nothing up', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'daemons 20', reuse: true }))
  assert.deepEqual([run.out.toString(), run.verdict, run.incomplete], ['left', 'exited', false])
  await sandbox.expect('A')
  assert.equal(finished(await sandbox.run({ payload: 'processes', reuse: true })).out.toString(), '1')
})

test('orphans are buried while the tool still runs, and their cpu time counts', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'orphans 300' }))
  assert.equal(run.out.toString(), 'buried')
  assert.ok(run.cpuUs > 300 * 20, `${run.cpuUs} us`)
})

test('a fork bomb that ignores SIGTERM is dead within 600 ms of its deadline', async () => {
  const sandbox = yard.start({ uid: 54321 })
  await sandbox.expect('H')
  const run = finished(
    await sandbox.run({ payload: 'bomb', deadlineMs: 300, limits: [[6, 64n]], reuse: true }),
  )
  assert.equal(run.verdict, 'timed_out')
  assert.ok(run.wallUs < 900_000, `${run.wallUs} us`)
  await sandbox.expect('A')
  assert.equal(finished(await sandbox.run({ payload: 'processes', reuse: true })).out.toString(), '1')
})

test('5,000 runs that print and leave at once lose nothing', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  for (let number = 0; number < 5_000; number++) {
    const run = finished(await sandbox.run({ payload: `echo run ${number}`, reuse: true }))
    assert.equal(run.out.toString(), `run ${number}`)
    await sandbox.expect('A')
  }
})
