import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { request } from '../contract/rig.ts'
import { buildProbe, readInit } from '../fixtures/probe-image.ts'
import { probeSpec, strictPolicy } from '../fixtures/probe-spec.ts'
import { watchVolumes } from '../fixtures/watch-volumes.ts'
import type { AddedInit, ToolImage } from './add-init.ts'
import { addInit } from './add-init.ts'
import { createDockerSandboxes } from './create-docker-sandboxes.ts'
import { openEngine } from './open-engine.ts'

const docker = openEngine(testDockerHost())
const instance = randomUUID()
const fail = ({ detail }: { detail: string }) => assert.fail(detail)

test('the finished image differs by one file and runs as it is with docker run', async (t) => {
  const made = await finish(t, ['ENV GREETING=hello', 'WORKDIR /tmp', 'CMD ["ignored"]'])
  assert.ok(made.kind === 'added', JSON.stringify(made))
  assert.deepEqual(made.image.entrypoint, ['/probe'])
  assert.deepEqual(made.image.warnings, [])
  const { Config, Architecture } = await docker.getImage(made.image.id).inspect()
  assert.equal(made.image.architecture, Architecture)
  assert.deepEqual(Config.Entrypoint, ['/probe'])
  assert.equal(Config.WorkingDir, '/tmp')
  assert.ok(Config.Env.includes('GREETING=hello'))
  assert.equal(await ran(made.image, 'env GREETING'), 'hello')
  assert.equal(await ran(made.image, 'cat /.toolyard/init'), String(await readInit()))
  const other = await finish(t, ['ENV GREETING=hello', 'WORKDIR /tmp', 'CMD ["ignored"]'])
  assert.ok(other.kind === 'added')
  assert.equal(other.image.id, made.image.id)
})

test('what cannot work as a tool is refused in words', async (t) => {
  const faults = [
    { lines: ['ENTRYPOINT []'], detail: /no ENTRYPOINT/ },
    { lines: ['ONBUILD RUN anything'], detail: /ONBUILD/ },
    { lines: ['VOLUME /.toolyard/sub/..'], detail: /VOLUME \/\.toolyard / },
    { lines: ['VOLUME /'], detail: /VOLUME \/ / },
    { lines: ['VOLUME /proc/x'], detail: /VOLUME \/proc\/x/ },
    { lines: ['COPY probe /.toolyard/init'], detail: /\/\.toolyard, which is kept/ },
    { lines: ['COPY passwd /etc/passwd', 'USER nobody'], detail: /no user "nobody"/ },
    { lines: ['USER app'], detail: /no user "app"/ },
    { lines: ['USER 1:wheel'], detail: /no group "wheel"/ },
  ]
  for (const { lines, detail } of faults) {
    const made = await finish(t, lines)
    assert.ok(made.kind === 'refused', JSON.stringify({ lines, made }))
    assert.match(made.detail, detail)
  }
  assert.deepEqual(await finishNamed('toolyard-test/nowhere:1'), { kind: 'image_missing' })
})

test('a shell-form ENTRYPOINT works and is warned about', async (t) => {
  const made = await finish(t, ['ENTRYPOINT /probe'])
  assert.ok(made.kind === 'added')
  assert.deepEqual(made.image.entrypoint, ['/bin/sh', '-c', '/probe'])
  assert.match(made.image.warnings[0] ?? '', /shell form/)
})

test("the user is the manifest's, else the image's own, else one that nobody else has", async (t) => {
  const passwd = 'COPY passwd /etc/passwd'
  const cases = [
    { lines: [passwd, 'USER app'], ids: '1234:1235' },
    { lines: [passwd, 'USER 1234'], ids: '1234:1235' },
    { lines: ['USER 4321'], ids: '4321:4321' },
    { lines: ['USER 4321:77'], ids: '4321:77' },
    { lines: [passwd, 'USER app'], user: '99', ids: '99:99' },
  ]
  for (const { lines, user, ids } of cases) {
    const made = await finish(t, lines, user)
    assert.ok(made.kind === 'added', JSON.stringify(made))
    assert.equal(await ran(made.image, 'ids'), ids)
  }
  const root = await finish(t, [passwd, 'USER root'])
  assert.ok(root.kind === 'added' && root.image.user === undefined)
  const [one, two] = [await ran(root.image, 'ids'), await ran(root.image, 'ids')]
  assert.notEqual(one, two)
  assert.ok(Number(one.split(':')[0]) >= 100_000)
})

test('a name that stands for uid 0 is refused like root', async (t) => {
  for (const user of ['sly', '0', 'root', '00']) {
    const made = await finish(t, ['COPY passwd /etc/passwd'], user)
    assert.ok(made.kind === 'added', JSON.stringify(made))
    assert.match(await ran(made.image, 'ids'), /start_failed.*refused.*uid 0/)
  }
})

test('a VOLUME is memory of limited size, a HEALTHCHECK never runs, and nothing is left of either', async (t) => {
  const made = await finish(t, [
    'VOLUME /data/',
    'VOLUME /tmp',
    'HEALTHCHECK --interval=1s CMD ["/probe", "exit 1"]',
  ])
  assert.ok(made.kind === 'added')
  assert.deepEqual(made.image.volumes, ['/data', '/tmp'])
  const nothingIsLeft = await watchVolumes(docker)
  assert.match(
    await ran(made.image, 'cat /proc/self/mounts'),
    /tmpfs \/data tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k/,
  )
  assert.equal(await ran(made.image, 'write /data/file'), 'written')
  await nothingIsLeft()
})

test('every item of the hardening is in force inside', async (t) => {
  const made = await finish(t, [])
  assert.ok(made.kind === 'added')
  const status = await ran(made.image, 'cat /proc/self/status')
  assert.match(status, /CapEff:\t0{16}\nCapBnd:\t0{16}\n/)
  assert.match(status, /NoNewPrivs:\t1\nSeccomp:\t2\n/)
  const mounts = await ran(made.image, 'cat /proc/self/mounts')
  assert.match(mounts, /^overlay \/ overlay ro,/)
  assert.match(mounts, / \/tmp tmpfs rw,nosuid,nodev,relatime,size=65536k/)
  assert.match(mounts, / \/dev\/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k/)
  const limits = await ran(made.image, 'cat /proc/self/limits')
  assert.match(limits, /Max core file size +0 +0 /)
  assert.match(limits, /Max open files +1024 +1024 /)
  assert.equal(await ran(made.image, 'write /x'), 'Read-only file system')
  assert.match(await ran(made.image, 'cat /proc/net/dev'), /^[^:]+lo:[^:]+$/)
})

/** The probe with these lines after it, as a tool's image; removed with the test. */
async function finish(t: TestContext, lines: readonly string[], user?: string): Promise<AddedInit> {
  const tag = `toolyard-test/${randomUUID()}:1`
  await buildProbe(docker, tag, lines)
  const made = await finishNamed(tag, user)
  t.after(async () => {
    for (const name of [`${tag}-done`, tag])
      await docker
        .getImage(name)
        .remove({ force: true })
        .catch(() => {})
  })
  return made
}

async function finishNamed(image: string, user?: string): Promise<AddedInit> {
  const init = await readInit()
  return addInit(docker, {
    image,
    target: `${image}-done`,
    init,
    instance,
    worker: 'w1',
    ...(user === undefined ? {} : { user }),
  })
}

/** What the probe prints in a sandbox of this image, or the failure in JSON. */
async function ran(image: ToolImage, payload: string): Promise<string> {
  const options = {
    dockerHost: testDockerHost(),
    instance,
    worker: 'w1',
    policy: strictPolicy,
    onStuck: fail,
  }
  const sandboxes = createDockerSandboxes({ ...options, isCoreWanted: () => true })
  try {
    const taken = await sandboxes.take(probeSpec(image), { topic: 't' })
    if (taken.kind !== 'taken') return JSON.stringify(taken)
    const { stdout } = await taken.sandbox.run(request(payload))
    await taken.sandbox.release()
    return stdout.toString()
  } finally {
    await sandboxes.close()
  }
}
