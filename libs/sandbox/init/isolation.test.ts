import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { frame } from './testing/frames.ts'
import { createYard, finished, type Yard } from './testing/sandbox.ts'

let yard: Yard
before(async () => {
  yard = await createYard()
})
after(async () => {
  await yard?.remove()
})

test('a tool of the same uid reaches nothing of the init, and no signal stays pending for it', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'attack', reuse: true }))
  const lines = run.out.toString().trim().split('\n')
  // a pending SIGCHLD is one that the init has not read yet: the only signal it listens to
  assert.equal(lines.length, 17)
  for (const line of lines) assert.match(line, /^(\S+ (EACCES|EPERM)|(Sig|Shd)Pnd:\t0{11}[01]0{4})$/)
  await sandbox.expect('A')
  assert.equal(finished(await sandbox.run({ payload: 'leave 0', reuse: true })).verdict, 'exited')
})

test('a tool governs itself and never the init, and opens no door that the filter does not watch', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'calls', reuse: true }))
  const lines = run.out.toString().trim().split('\n')
  const told = (start: string) => lines.filter((line) => line.startsWith(start))
  const calls = [
    'prlimit64',
    'setpriority',
    'ioprio_set',
    'sched_setaffinity',
    'sched_setscheduler',
    'sched_setparam',
    'sched_setattr',
  ]
  const expected = [
    ...calls.flatMap((call) => [
      `${call} init EPERM`,
      `${call} masked init EPERM`,
      `${call} self YES`,
      `${call} own pid YES`,
    ]),
    ...calls
      .slice(1, 3)
      .flatMap((call) => [
        `${call} own group YES`,
        `${call} first group EPERM`,
        `${call} user EPERM`,
        `${call} this user EPERM`,
      ]),
  ]
  const isGoverning = (line: string) => calls.some((call) => line.startsWith(`${call} `))
  assert.deepEqual(lines.filter(isGoverning).toSorted(), expected.toSorted())
  assert.deepEqual(told('io_uring'), [
    'io_uring_setup  ENOSYS',
    'io_uring_enter  ENOSYS',
    'io_uring_register  ENOSYS',
  ])
  const families = new Set(told('socket').map((line) => line.split(' ')[1]))
  // AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK
  assert.deepEqual([...families], ['1', '2', '10', '16'])
  assert.ok(lines.includes('socketpair 1 YES') && lines.includes('socket 2 YES'))
  if (process.arch === 'x64') assert.deepEqual(lines.slice(-2), ['x32 getpid ENOSYS', 'i386 getpid SIGSYS'])
  await sandbox.expect('A')
})

test('no tool starts where the kernel filters no system calls', async () => {
  const sandbox = yard.start({ room: { LAUNCHER: '/bin/without-filters' } })
  await sandbox.expect('H')
  assert.deepEqual(await sandbox.run({ payload: 'echo started', silenceMs: 300 }), {
    failure: { errno: 38, text: 'cannot start /bin/tool: filter of system calls: Function not implemented' },
  })
  assert.equal(await sandbox.ended, 0)
})

test('what a tool prints is output, also when it looks like a frame', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'forge' }))
  assert.deepEqual([run.verdict, run.code, run.out.length, run.err.length], ['exited', 5, 3600, 3600])
  assert.equal(run.out.toString('latin1', 0, 1), 'X')
})

test('neither payload nor output of a run stays in the memory of the init', async () => {
  for (const onStdin of [false, true]) {
    const sandbox = yard.start({ words: onStdin ? ['/bin/tool', 'cat'] : ['/bin/tool'] })
    await sandbox.expect('H')
    const secret = `canary-${onStdin}-5cbb9a2e`
    const pid = await sandbox.hostPid()
    // long enough that the report, which follows it, does not just lie on top of it
    const payload = `echo ${secret.repeat(40)}`
    assert.equal(finished(await sandbox.run({ payload, onStdin, reuse: true })).code, 0)
    await sandbox.expect('A')
    const memory = await readMemory(pid)
    assert.ok(memory.includes('toolyard-init-key='), 'the search sees the memory of the init')
    assert.ok(!memory.includes(secret.slice(0, 15)))
  }
})

test('the payload is wiped as soon as the tool has started', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const pid = await sandbox.hostPid()
  sandbox.request({ payload: 'wait canary-77d1', reuse: true })
  await sandbox.expect('S')
  await sandbox.expect('O')
  assert.ok(!(await readMemory(pid)).includes('canary-77d1'))
})

test('an idle init is small', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const status = await readFile(`/proc/${await sandbox.hostPid()}/status`, 'utf8')
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])
  assert.ok(resident > 0 && resident <= 2048, `${resident} kB`)
})

test('it refuses to be anything but PID 1, and to be started without a tool', async () => {
  const init = join(yard.root, '.toolyard/init')
  await assert.rejects(promisify(execFile)(init, ['/bin/true']), {
    code: 78,
    stderr: 'toolyard-init: must be PID 1 of a sandbox\n',
  })
  const sandbox = yard.start({ words: [] })
  assert.equal(await sandbox.ended, 78)
  assert.equal(sandbox.errors(), 'toolyard-init: no tool given\n')
})

test(
  'a memory bomb is out_of_memory and the init survives it',
  {
    skip: existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes')
      ? false
      : 'no memory cgroup of version 1 here',
  },
  async () => {
    const group = `/sys/fs/cgroup/memory/toolyard-init-test-${process.pid}`
    await mkdir(group)
    try {
      await writeFile(join(group, 'memory.limit_in_bytes'), String(32 << 20))
      const sandbox = yard.start({ room: { CGROUP: group } })
      await sandbox.expect('H')
      const bomb = finished(await sandbox.run({ payload: 'eat 64', reuse: true }))
      assert.deepEqual(
        [bomb.verdict, bomb.signal, bomb.oomKnown, bomb.oomKills],
        ['out_of_memory', 9, true, 1],
      )
      await sandbox.expect('A')
      const modest = finished(await sandbox.run({ payload: 'eat 8', reuse: true }))
      assert.deepEqual([modest.verdict, modest.oomKills], ['exited', 0])
      assert.ok(modest.peakBytes > 8 << 20 && modest.peakBytes < 12 << 20)
      assert.ok(modest.cgroupPeak > 30 << 20 && modest.cgroupPeak <= 32 << 20)
      await sandbox.expect('A')
      const coping = finished(await sandbox.run({ payload: 'feed 64', reuse: true }))
      assert.deepEqual([coping.verdict, coping.oomKills, coping.out.toString()], ['exited', 1, 'child 9'])
      await sandbox.expect('A')
      await sandbox.close()
    } finally {
      await rmdir(group)
    }
  },
)

test('the counters of a memory cgroup of version 2 are read, and none at all are unknown', async () => {
  const folder = join(yard.root, 'sys/fs/cgroup')
  const events = (kills: number) =>
    writeFile(join(folder, 'memory.events'), `low 0\nmax 9\noom 5\noom_kill ${kills}\noom_group_kill 1\n`)
  try {
    await events(7)
    await writeFile(join(folder, 'memory.peak'), '123456789\n')
    const sandbox = yard.start()
    await sandbox.expect('H')
    sandbox.request({ payload: 'wait politely' })
    await sandbox.expect('S')
    await sandbox.expect('O')
    await events(9)
    sandbox.send(frame('C'))
    const run = finished(await sandbox.outcome())
    assert.deepEqual(
      [run.verdict, run.oomKnown, run.oomKills, run.cgroupPeak],
      ['cancelled', true, 2, 123_456_789],
    )
  } finally {
    await rm(join(folder, 'memory.events'), { force: true })
    await rm(join(folder, 'memory.peak'), { force: true })
  }
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(await sandbox.run({ payload: 'leave 0' }))
  assert.deepEqual([run.oomKnown, run.oomKills, run.cgroupPeak], [false, 0, 0])
})

test('the behaviours hold in a build with address and undefined-behaviour sanitizers', async () => {
  const careful = await createYard(true)
  try {
    const sandbox = careful.start()
    await sandbox.expect('H')
    for (const [payload, verdict] of [
      ['state', 'exited'],
      ['daemons 5', 'exited'],
      ['forge', 'exited'],
      ['pour o -1', 'output_too_large'],
      ['pour e 3000000', 'exited'],
      ['wait stubbornly', 'timed_out'],
      ['litter deep', 'exited'],
      ['litter names', 'exited'],
      ['litter sysv', 'exited'],
      ['litter queue', 'exited'],
      ['calls', 'exited'],
      ['die 6', 'signaled'],
    ]) {
      const run = finished(
        await sandbox.run({ payload: String(payload), reuse: true, deadlineMs: 1000, environment: ['A=b'] }),
      )
      assert.equal(run.verdict, verdict, payload)
      await sandbox.expect('A')
    }
    assert.equal(await sandbox.close(), 0)
    assert.equal(sandbox.errors(), '')
    const broken = careful.start()
    await broken.expect('H')
    broken.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    assert.equal(await broken.ended, 72)
  } finally {
    await careful.remove()
  }
})

/** Everything readable and writable that the process has mapped. Root may read what a tool may not. */
async function readMemory(pid: number): Promise<Buffer> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8')
  const memory = await open(`/proc/${pid}/mem`)
  try {
    const parts: Buffer[] = []
    for (const line of maps.trim().split('\n')) {
      if (/\[v(var|dso|syscall)/.test(line)) continue
      const [from = 0, to = 0] = (line.split(' ')[0] ?? '')
        .split('-')
        .map((edge) => Number.parseInt(edge, 16))
      const { buffer, bytesRead } = await memory.read(Buffer.alloc(to - from), 0, to - from, from)
      parts.push(buffer.subarray(0, bytesRead))
    }
    return Buffer.concat(parts)
  } finally {
    await memory.close()
  }
}
