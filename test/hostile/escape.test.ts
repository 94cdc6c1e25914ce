import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { Arena } from './fixtures/arena.ts'
import {
  assertNothingFound,
  assertRefused,
  attemptsIn,
  openArena,
  requestOf,
  takeOne,
  told,
} from './fixtures/arena.ts'
import { hostState } from './fixtures/host.ts'

// Tools that want out, up, or into what is not theirs.

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

test('nothing of the image, the kernel and the devices can be written, and nothing of the host read', async () => {
  const state = hostState()
  const said = attemptsIn(await arena.attack({ program: 'files.py' }))
  assertRefused(said, ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENXIO', 'EXDEV', 'ECONNREFUSED'], {
    // What the engine masks is an empty file.
    'read /proc/kcore': 'done 0',
    'read /proc/keys': 'done 0',
    'read /proc/timer_list': 'done 0',
    'read /proc/sched_debug': 'done 0',
    'read /proc/kmsg': 'done 0',
    'other sockets': 'done []',
    'bind mounts': "done ['/etc/hostname', '/etc/hosts', '/etc/resolv.conf']",
  })
  // A mount that was writable would not have refused as a read-only file system does.
  assert.deepEqual(
    Object.entries(said).filter(
      ([name, answer]) => /^write \/(new|etc|usr|\.toolyard|var)/.test(name) && answer !== 'EROFS',
    ),
    [],
  )
  assert.deepEqual(hostState(), state)
})

test('the kernel gives nothing that only root has: no namespace, mount, device, key, program, clock or other user', async () => {
  const state = hostState()
  const clock = Date.now() - performance.now()
  const said = attemptsIn(await arena.attack({ program: 'kernel.py' }))
  assert.ok(Object.keys(said).length > 50)
  assertRefused(said, ['EPERM', 'EACCES'], {
    'clone into a user namespace': 'ENOSYS',
    'signal everybody': 'ESRCH',
    'packet socket': 'EAFNOSUPPORT',
    io_uring: 'ENOSYS',
  })
  assert.deepEqual(hostState(), state)
  assert.ok(Math.abs(Date.now() - performance.now() - clock) < 1_000)
})

test('a tool that crashes leaves no core, neither to itself nor to the host', async () => {
  const outcome = await arena.attack({ program: 'crash.py' })
  assert.ok(outcome.kind === 'exited' && outcome.signal === 'SIGSEGV', told(outcome))
  assert.equal(String(outcome.stdout), 'False []\n')
})

test('a sandbox without a network reaches nothing: no address, no name, no socket of the host', async (t) => {
  const name = `toolyard-${randomUUID()}`
  const heard: string[] = []
  const listen = async (server: Server, what: string) => {
    server.on('connection', (socket) => {
      heard.push(what)
      socket.destroy()
    })
    await once(server, 'listening')
    t.after(() => server.close())
    return server.address()
  }
  const address = await listen(createServer().listen(0, '0.0.0.0'), 'tcp')
  await listen(createServer().listen({ path: `\0${name}` }), 'abstract')
  assert.ok(address !== null && typeof address === 'object')
  // The host itself reaches both.
  await once(connect(address.port, '127.0.0.1').resume(), 'close')
  await once(connect({ path: `\0${name}` }).resume(), 'close')
  assert.deepEqual(heard, ['tcp', 'abstract'])
  const said = attemptsIn(await arena.attack({ program: 'network.py', payload: `${address.port},${name}` }))
  assertRefused(said, ['ENETUNREACH', 'ECONNREFUSED', 'EADDRNOTAVAIL', 'EHOSTUNREACH', 'EAFNOSUPPORT'], {
    interfaces: "done ['lo']",
    routes: 'done 0',
    'udp 127.0.0.1': 'done',
    'a name': '[Errno -3] Temporary failure in name resolution',
  })
  assert.deepEqual(heard, ['tcp', 'abstract'])
  for (const family of ['vsock', 'alg', 'bluetooth', 'tipc', 'rds', 'can', 'qipcrtr', 'xdp'])
    assert.equal(said[family], 'EAFNOSUPPORT', family)
})

test('a tool sees nothing of another one that runs beside it, and hides nothing', async () => {
  const secret = randomUUID()
  const holder = await takeOne(arena.sandboxes, arena.specOf('reuse.py'))
  const stop = new AbortController()
  const begun = Promise.withResolvers<void>()
  const held = holder.run({
    ...requestOf(`hold ${secret}`),
    env: { SETTING: secret },
    signal: stop.signal,
    onStderr: () => begun.resolve(),
  })
  await Promise.race([begun.promise, held.then((outcome) => assert.fail(told(outcome)))])
  const outcome = await arena.attack({ program: 'reuse.py', payload: 'look' })
  assert.ok(outcome.kind === 'exited' && outcome.code === 0, told(outcome))
  assertNothingFound(String(outcome.stdout), secret)
  stop.abort()
  assert.equal((await held).kind, 'cancelled')
  await holder.release()
})
