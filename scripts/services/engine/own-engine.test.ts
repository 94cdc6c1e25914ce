import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { probeEngine } from '@toolyard/sandbox/engine'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { killEngineProcesses, mountPoints, removeEngineDebris } from './debris.ts'
import { enginePaths } from './paths.ts'
import { findProgram } from '../machine/find-program.ts'
import type { EnginePlace } from './paths.ts'
import { pathsIn } from '../installation/installation.ts'
import { isRoot } from '../machine/is-root.ts'
import { findOwnEngine, startOwnEngine, stopOwnEngine } from './own-engine.ts'
import { hasEnded, isAlive } from '../machine/process-identity.ts'

// Elsewhere Toolyard runs no engine of its own either.
const runs = isRoot() && findProgram('dockerd') !== undefined

test('an engine of our own starts, is found again, and leaves nothing when it stops', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'one')
  const engine = await startOwnEngine(place)
  assert.equal((await probeEngine(engine.dockerHost)).state, 'ready')
  assert.deepEqual(await startOwnEngine(place), engine)
  assert.equal(await stopOwnEngine(place), true)
  assert.equal(await stopOwnEngine(place), false)
  assertNothingLeft(place)
})

test('two engines run side by side, and stopping one leaves the other alone', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const [one, two] = [placeIn(t, 'left'), placeIn(t, 'right')]
  const [, right] = await Promise.all([startOwnEngine(one), startOwnEngine(two)])
  await stopOwnEngine(one)
  assertNothingLeft(one)
  assert.equal((await probeEngine(right.dockerHost)).state, 'ready')
})

test('a folder may have any name', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'Ünï 100% #1?')
  const engine = await startOwnEngine(place)
  assert.ok(engine.dockerHost.includes('/Ünï 100% #1?/'), 'the sockets are there too')
  assert.equal((await probeEngine(engine.dockerHost)).state, 'ready')
  await stopOwnEngine(place)
  assertNothingLeft(place)
})

test('an engine that hangs is stopped all the same, and another starts', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'hung')
  const first = await startOwnEngine(place)
  process.kill(first.process.pid, 'SIGSTOP')
  const second = await startOwnEngine(place)
  assert.equal((await probeEngine(second.dockerHost)).state, 'ready')
  assert.equal(isAlive(first.process), false)
  process.kill(second.process.pid, 'SIGSTOP')
  assert.equal(await stopOwnEngine(place), true)
  assertNothingLeft(place)
})

test('an engine that was killed is cleaned up after, and starts again', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'killed')
  const first = await startOwnEngine(place)
  process.kill(first.process.pid, 'SIGKILL')
  assert.ok(await hasEnded(first.process, 5_000))
  assert.equal(await findOwnEngine(place), undefined)
  const second = await startOwnEngine(place)
  process.kill(second.process.pid, 'SIGKILL')
  assert.ok(await hasEnded(second.process, 5_000))
  assert.equal(await stopOwnEngine(place), true, 'its containerd was still there')
  assertNothingLeft(place)
})

test('containers that end while they are looked for are no fault', async (t) => {
  if (!isRoot()) return t.skip('needs root')
  const place = placeIn(t, 'busy')
  const paths = enginePaths(place)
  const hierarchies = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup']
  const cgroup = join(hierarchies.find(existsSync) ?? '', paths.cgroup)
  const inner = Array.from({ length: 5 }, (_, n) => join(cgroup, `container-${n}`))
  mkdirSync(cgroup)
  const churn = spawn('sh', ['-c', `while :; do mkdir ${inner.join(' ')}; rmdir ${inner.join(' ')}; done`], {
    stdio: 'ignore',
  })
  try {
    for (let turn = 0; turn < 100; turn++) await killEngineProcesses(paths)
  } finally {
    churn.kill('SIGKILL')
    await once(churn, 'exit')
  }
  await removeEngineDebris(paths)
  assertNothingLeft(place)
})

test('what is still being mounted while an engine is cleaned up after goes too', async (t) => {
  if (!isRoot()) return t.skip('needs root')
  const place = placeIn(t, 'late')
  const paths = enginePaths(place)
  const folder = join(paths.run, 'exec', 'netns')
  mkdirSync(folder, { recursive: true })
  // As the helpers of dockerd do; without the folder they end.
  const mounting =
    'for n in $(seq 100); do mkdir "$0/$n" || exit 0; mount -t tmpfs tmpfs "$0/$n"; sleep 0.02; done'
  const helper = spawn('sh', ['-c', mounting, folder], { stdio: 'ignore' })
  const ended = once(helper, 'exit')
  await waitUntil('some mounts', () => mountPoints().filter((mount) => mount.startsWith(folder)).length > 5)
  await removeEngineDebris(paths)
  await ended
  assertNothingLeft(place)
})

test('disks that the operator put under an engine stay where they are, also after a kill', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'disks')
  const { folder, dockerData } = enginePaths(place)
  const disks = [folder, dockerData]
  try {
    for (const disk of disks) {
      mkdirSync(disk, { recursive: true })
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', disk])
    }
    const engine = await startOwnEngine(place)
    process.kill(engine.process.pid, 'SIGKILL')
    assert.ok(await hasEnded(engine.process, 5_000))
    await stopOwnEngine(place)
    assert.deepEqual(
      mountPoints().filter((mount) => mount.startsWith(folder)),
      disks,
    )
  } finally {
    for (const disk of disks.toReversed()) execFileSync('umount', ['-l', disk])
  }
})

test('a data directory with a long name has its sockets elsewhere, and they go too', async (t) => {
  if (!runs) return t.skip('needs root and dockerd')
  const place = placeIn(t, 'a-name-that-goes-on-and-on-until-no-socket-could-be-bound-below-it')
  const engine = await startOwnEngine(place)
  assert.ok(engine.dockerHost.startsWith('unix:///run/toolyard-'))
  assert.ok(isAlive(engine.process))
  await stopOwnEngine(place)
  assertNothingLeft(place)
})

function placeIn(t: TestContext, name: string): EnginePlace {
  const folder = temporaryFolder(t, () => stopOwnEngine(place))
  const place: EnginePlace = {
    id: `test-${name.replaceAll(/\W/g, '').slice(0, 6)}-${process.pid}`,
    paths: pathsIn(join(folder, name)),
  }
  return place
}

function assertNothingLeft(place: EnginePlace): void {
  const { run, folder, cgroup } = enginePaths(place)
  assert.ok(!existsSync(run), run)
  assert.deepEqual(
    mountPoints().filter((mount) => mount.startsWith(`${folder}/`)),
    [],
  )
  const hierarchies = readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name, cgroup))
  assert.deepEqual([join('/sys/fs/cgroup', cgroup), ...hierarchies].filter(existsSync), [])
}
