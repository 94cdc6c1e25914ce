import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { ExtraEngine } from '@toolyard/testkit/extra-engine'
import type { Arena } from './fixtures/arena.ts'
import { assertRefused, attemptsIn, openArena, requestOf, takeOne, told } from './fixtures/arena.ts'
import { gvisorRuntime, openGvisorEngine } from './fixtures/gvisor.ts'
import { hostState } from './fixtures/host.ts'

// The same attackers under gVisor. Some of what they try succeeds there, against a kernel that is theirs alone.

const mebibyte = 1_048_576
const memoryBytes = 256 * mebibyte

let arena: Arena
let engine: ExtraEngine
before(async () => {
  const imagesFrom = testDockerHost()
  engine = await openGvisorEngine(imagesFrom)
  arena = await openArena({ dockerHost: engine.dockerHost, imagesFrom, runtime: gvisorRuntime })
})
after(async () => {
  try {
    await arena?.close()
  } finally {
    await engine?.close()
  }
})

const attack = (program: string, payload = '', timeoutMs = 9_000) =>
  arena.attack({ program, payload, spec: { memoryBytes }, request: { timeoutMs } })

test('gVisor: nothing of the image and the host can be written or read', async () => {
  const state = hostState()
  const said = attemptsIn(await attack('files.py'))
  assertRefused(said, ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EXDEV', 'EBADFD', 'ECONNREFUSED'], {
    'lower its own oom score': 'done',
    // Names in its own /tmp, behind which there is nothing.
    'make the device 1:1': 'done',
    'make the device 8:0': 'done',
    'make the device 254:0': 'done',
    'other sockets': 'done []',
    'bind mounts': 'done []',
  })
  assert.deepEqual(hostState(), state)
})

test('gVisor: what a tool may ask of its own kernel changes nothing of the host', async () => {
  const state = hostState()
  const clock = Date.now() - performance.now()
  const said = attemptsIn(await attack('kernel.py'))
  for (const name of ['mount proc', 'bind mount', 'remount / writable', 'set the clock', 'more files'])
    assert.equal(said[name], 'EPERM', name)
  for (const name of ['bpf', 'kexec_load', 'init_module', 'userfaultfd', 'reboot'])
    assert.equal(said[name], 'ENOSYS', name)
  assert.notEqual(said['setuid binary'], 'done')
  assert.deepEqual(hostState(), state)
  assert.ok(Math.abs(Date.now() - performance.now() - clock) < 1_000)
})

test('gVisor: a sandbox without a network reaches nothing', async () => {
  const said = attemptsIn(await attack('network.py', `4711,${randomUUID()}`))
  assertRefused(said, ['EHOSTUNREACH', 'ENETUNREACH', 'ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'], {
    interfaces: "done ['lo']",
    routes: 'done 0',
    'udp 127.0.0.1': 'done',
    'a name': '[Errno -3] Temporary failure in name resolution',
  })
})

test('gVisor: the memory of the init can be neither read nor written nor traced', async () => {
  const said = attemptsIn(await attack('init.py', 'quiet'))
  for (const name of ['read mem', 'write mem', 'attach', 'seize', 'process_vm_readv', 'take descriptor 1'])
    assert.match(said[name] ?? '', /^(EACCES|EPERM|ENOSYS)$/, name)
})

// Versions before 2023 let a tool open the descriptors of PID 1: the worker then hears what no init says.
for (const forgery of ['garbage', 'endless', 'hello', 'not started'])
  test(`gVisor: a tool that says "${forgery}" in its init's place has failed by itself`, async () => {
    const outcome = await attack('impersonate.py', forgery)
    assert.ok(outcome.kind === 'exited' && [9, 76].includes(outcome.code), told(outcome))
  })

test('gVisor: a tool that says in its init’s place that all is clean is not believed', async () => {
  const spec = arena.specOf('impersonate.py', { memoryBytes, reuse: 10 })
  const sandbox = await takeOne(arena.sandboxes, spec)
  const outcome = await sandbox.run(requestOf('clean'))
  await sandbox.release()
  assert.equal(outcome.kind, 'exited', told(outcome))
  // At once: an init that is left to itself would die of silence, and be forgotten.
  assert.equal(arena.sandboxes.counts().kept, 0)
})

test('gVisor: a tool can neither limit nor slow down its init, and has no other sockets and no rings', async () => {
  const init = attemptsIn(await attack('init.py', 'quiet'))
  const governing = Object.entries(init).filter(([name]) =>
    /^(limit|nice|scheduler|affinity|input)/.test(name),
  )
  assert.ok(governing.length > 20)
  assertRefused(Object.fromEntries(governing), ['EPERM'], {})
  const { vsock } = attemptsIn(await attack('network.py', `4711,${randomUUID()}`))
  assert.equal(vsock, 'EAFNOSUPPORT')
  const { io_uring: ring } = attemptsIn(await attack('kernel.py'))
  assert.equal(ring, 'ENOSYS')
})

test('gVisor: a tool that kills its init has failed by itself', async () => {
  const outcome = await attack('init.py')
  assert.ok(outcome.kind === 'exited' && outcome.signal === 'SIGKILL', told(outcome))
})

for (const program of ['memory-bomb.py', 'fork-bomb.py'])
  test(`gVisor: ${program} ends at the memory of its own sandbox`, async () => {
    const outcome = await attack(program)
    assert.equal(outcome.kind, 'out_of_memory', told(outcome))
  })

test('gVisor: /tmp holds 64 MiB', async () => {
  const said = attemptsIn(await attack('fill.py', '/tmp'))
  assert.deepEqual(said, { '/tmp': 'ENOSPC', '/tmp holds': `done ${64 * mebibyte}` })
})

test('gVisor: stdout without end is killed at its cap', async () => {
  const outcome = await attack('flood.py', 'stdout')
  assert.equal(outcome.kind, 'output_too_large', told(outcome))
  assert.equal(outcome.stdout.length, mebibyte)
})

test('gVisor: stderr without end is read and dropped until the deadline', async () => {
  const outcome = await attack('flood.py', 'stderr', 1_500)
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  assert.ok(outcome.stderrBytes > mebibyte)
})

test('gVisor: a tool that ignores SIGTERM is dead within 600 ms of its deadline', async () => {
  const outcome = await attack('linger.py', 'deaf', 1_000)
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  assert.ok(outcome.wallMs >= 1_000 && outcome.wallMs < 1_600, told(outcome))
})

test('gVisor: daemons that outlive their parent die with the run', async () => {
  const outcome = await attack('linger.py', 'daemon')
  assert.equal(`${outcome.kind} ${String(outcome.stdout)}`, 'exited left\n', told(outcome))
})

test('gVisor: frames that a tool writes to its stdout are its output', async () => {
  const outcome = await attack('forge.py')
  assert.ok(outcome.kind === 'exited' && outcome.code === 9, told(outcome))
})

test('gVisor: a tool that crashes leaves no core', async () => {
  const outcome = await attack('crash.py')
  assert.ok(outcome.kind === 'exited' && outcome.signal === 'SIGSEGV', told(outcome))
  assert.equal(String(outcome.stdout), 'False []\n')
})

test('gVisor: no sandbox serves twice, whatever its tool allows, because none can be proven clean', async () => {
  const secret = randomUUID()
  await arena.attack({ program: 'reuse.py', payload: `leave ${secret}`, spec: { memoryBytes, reuse: 10 } })
  assert.equal(arena.sandboxes.counts().kept, 0)
})
