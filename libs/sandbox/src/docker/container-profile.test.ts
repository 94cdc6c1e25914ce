import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SandboxSpec } from '../sandboxes.ts'
import type { SandboxPolicy } from './container-profile.ts'
import { containerProfile } from './container-profile.ts'

const spec: SandboxSpec = {
  tool: 'weather',
  image: 'sha256:1111',
  entrypoint: ['/usr/bin/run', '--fast'],
  input: 'argument',
  volumes: [],
  memoryBytes: 268_435_456,
  cpus: 1.5,
  network: 'none',
  writable: false,
  reuse: 1,
}
const policy: SandboxPolicy = { allowHostNetwork: false, allowWritable: false, allowRoot: false }
const labels = { instance: 'i1', worker: 'w1', tool: 'weather', image: 'hash1' }

test('the whole profile, word for word', () => {
  assert.deepEqual(containerProfile(spec, policy, labels, 2_000_000_001), {
    kind: 'profile',
    body: {
      Image: 'sha256:1111',
      Entrypoint: ['/.toolyard/init'],
      Cmd: ['/usr/bin/run', '--fast'],
      User: '2000000001:2000000001',
      Env: ['HOME=/tmp'],
      Labels: {
        'toolyard.instance': 'i1',
        'toolyard.worker': 'w1',
        'toolyard.tool': 'weather',
        'toolyard.image': 'hash1',
      },
      Tty: false,
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        AutoRemove: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Privileged: false,
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,mode=1777,size=67108864' },
        Mounts: [],
        ShmSize: 67_108_864,
        IpcMode: 'private',
        NetworkMode: 'none',
        PidsLimit: 64,
        Memory: 268_435_456,
        MemorySwap: 268_435_456,
        NanoCpus: 1_500_000_000,
        Ulimits: [
          { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
        LogConfig: { Type: 'none', Config: {} },
        RestartPolicy: { Name: 'no' },
      },
    },
  })
})

test('each wish changes its own lines and no other', () => {
  const wishes: { wish: Partial<SandboxSpec>; allowed?: Partial<SandboxPolicy>; changes: object }[] = [
    { wish: { user: { uid: 1_000, gid: 0 } }, changes: { User: '1000:0' } },
    { wish: { user: { uid: 0, gid: 0 } }, allowed: { allowRoot: true }, changes: { User: '0:0' } },
    { wish: { network: 'bridge' }, allowed: { bridge: 'ours' }, changes: { NetworkMode: 'ours' } },
    { wish: { network: 'host' }, allowed: { allowHostNetwork: true }, changes: { NetworkMode: 'host' } },
    { wish: { writable: true }, allowed: { allowWritable: true }, changes: { ReadonlyRootfs: false } },
    // Not allowed is not refused: /tmp stays writable, and the listing says that the root does not.
    { wish: { writable: true }, changes: {} },
    { wish: {}, allowed: { runtime: 'runsc' }, changes: { Runtime: 'runsc', PidsLimit: 1_024 } },
    { wish: { reuse: 100 }, changes: {} },
    { wish: { input: 'stdin' }, changes: {} },
    { wish: { memoryBytes: 5 }, changes: { Memory: 5, MemorySwap: 5 } },
    { wish: { cpus: 0.25 }, changes: { NanoCpus: 250_000_000 } },
    {
      wish: { volumes: ['/tmp', '/data'] },
      changes: {
        Mounts: [
          {
            Type: 'tmpfs',
            Source: '',
            Target: '/data',
            TmpfsOptions: { SizeBytes: 67_108_864, Mode: 0o1777 },
          },
        ],
      },
    },
  ]
  const plain = flatten(containerProfile(spec, policy, labels, 7))
  for (const { wish, allowed, changes } of wishes) {
    const made = flatten(containerProfile({ ...spec, ...wish }, { ...policy, ...allowed }, labels, 7))
    assert.deepEqual(made, { ...plain, ...changes }, JSON.stringify(wish))
  }
})

test('what the operator has not allowed is refused in words', () => {
  const wishes: Partial<SandboxSpec>[] = [
    { user: { uid: 0, gid: 5 } },
    { network: 'host' },
    { network: 'bridge' },
    { volumes: Array.from({ length: 17 }, (_, i) => `/v${i}`) },
    { reuse: 2, writable: true },
    { entrypoint: [] },
  ]
  for (const wish of wishes) {
    const made = containerProfile({ ...spec, ...wish }, policy, labels, 7)
    assert.equal(made.kind, 'refused', JSON.stringify(wish))
  }
})

function flatten(made: ReturnType<typeof containerProfile>): object {
  assert.equal(made.kind, 'profile')
  const { HostConfig, ...body } = made.body
  return { ...body, ...HostConfig }
}
