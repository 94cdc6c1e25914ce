import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Engine } from '@toolyard/sandbox/open-engine'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openWorkshop, staticProgram } from './fixtures/workshop.ts'
import { nameServedImage } from './name-served-image.ts'
import { readBases } from './read-bases.ts'

const root = join(import.meta.dirname, '../../../..')
const mebibyte = 1_048_576
const scratch = ['FROM scratch', 'COPY program /program']
const runs = 'ENTRYPOINT ["/program"]'

/** Short, and nobody else's. */
const unique = () => randomUUID().slice(0, 8)

const lines = (...all: string[]) => `${all.join('\n')}\n`

/** What the image says when it is run as a person would, with this argument. */
async function dockerRun(engine: Engine, image: string, argument: string): Promise<string> {
  const HostConfig = { NetworkMode: 'none' }
  const container = await engine.createContainer({ Image: image, Cmd: [argument], HostConfig })
  try {
    await container.start()
    await container.wait()
    // One short line is one frame, behind a header of eight bytes.
    return (await container.logs({ stdout: true })).subarray(8).toString().trim()
  } finally {
    await container.remove({ force: true })
  }
}

test('a bash and jq tool is built on the shell base and runs by its name', async (t) => {
  const shop = await openWorkshop(t)
  // Made once per machine, under a lock: it takes half a minute.
  await promisify(execFile)(process.execPath, [
    join(root, 'scripts/prepare-debian.ts'),
    testDockerHost(),
    'shell',
  ])
  const name = `greeter_${unique()}`
  await shop.writeTool(name, {
    Dockerfile: lines(
      'FROM toolyard/base-shell',
      'WORKDIR /tool',
      'COPY runner.sh .',
      'USER 4321:77',
      'VOLUME /data',
      'ENTRYPOINT ["bash", "runner.sh"]',
    ),
    'runner.sh': `jq -c '{text: ("Hello, " + .params.name)}' <<< "$(base64 -d <<< "$1")"\n`,
  })
  // With a registry's Debian the base wants packages; one of our own making has them.
  const built = await shop.build(name, { bases: await readBases([join(root, 'tools')]), networkMode: 'host' })
  assert.ok(built.kind === 'ready', JSON.stringify(built))
  assert.deepEqual(built.facts, {
    entrypoint: ['bash', 'runner.sh'],
    volumes: ['/data'],
    warnings: [],
    user: { uid: 4321, gid: 77 },
  })
  const served = `toolyard/${name}:1.0`
  await nameServedImage(shop.engine, { tool: name, version: '1.0', imageId: built.imageId })
  const payload = Buffer.from(JSON.stringify({ params: { name: 'Ada' } })).toString('base64')
  assert.equal(await dockerRun(shop.engine, served, payload), '{"text":"Hello, Ada"}')
  assert.ok(
    shop.lines.some((line) => line.startsWith('Step 1/')),
    shop.lines.join('\n'),
  )
  const removal = await removeToolImage(shop.engine, { id: built.imageId, instance: shop.instance })
  assert.deepEqual(removal, { kind: 'removed' })
  assert.deepEqual(await shop.images(), [])
})

test('a tool without anything around it works, and the same folder is the same image', async (t) => {
  const shop = await openWorkshop(t)
  const name = `t${unique()}`
  await shop.writeTool(name, { program: await staticProgram(), Dockerfile: lines(...scratch, runs) })
  const [first, second] = [await shop.build(name), await shop.build(name, { user: '99' })]
  assert.ok(first.kind === 'ready' && second.kind === 'ready', JSON.stringify([first, second]))
  assert.equal(first.imageId, second.imageId)
  assert.deepEqual([first.facts.user, second.facts.user], [undefined, { uid: 99, gid: 99 }])
  assert.equal(await dockerRun(shop.engine, first.imageId, 'said'), 'said')
  const images = await shop.images()
  assert.deepEqual(
    images.map(({ id, tool }) => ({ id, tool })),
    [{ id: first.imageId, tool: name }],
  )
  const { RepoTags } = await shop.engine.getImage(first.imageId).inspect()
  assert.equal(RepoTags.length, 1)
  assert.match(
    RepoTags[0] ?? '',
    new RegExp(`^toolyard/${name}:h-${images[0]?.hash.slice(0, 12)}-[0-9a-f]{6}$`),
  )
})

test('what the author has to mend is told in words, and nothing is left of the attempt', async (t) => {
  const shop = await openWorkshop(t)
  const program = await staticProgram()
  const faults: {
    dockerfile: string[]
    detail: RegExp
    limits?: { sizeMaxBytes?: number; timeoutMs?: number }
  }[] = [
    { dockerfile: ['FROM scratch', 'COPY runner.sh /', runs], detail: /COPY failed.*runner\.sh/ },
    { dockerfile: [...scratch, 'RUNN x'], detail: /line 3: unknown instruction: RUNN/i },
    {
      dockerfile: [...scratch, 'RUN ["/program", "fail no such package"]'],
      detail: /^no such package\n[^]*code: 7$/m,
    },
    { dockerfile: scratch, detail: /no ENTRYPOINT: add/ },
    { dockerfile: [...scratch, runs, 'ONBUILD RUN x'], detail: /ONBUILD instructions: remove them/ },
    { dockerfile: [...scratch, 'COPY program /.toolyard/init', runs], detail: /\/\.toolyard, which is kept/ },
    {
      dockerfile: ['FROM toolyard/base-nowhere', runs],
      detail: /no base image toolyard\/base-nowhere: .*_base/,
    },
    {
      dockerfile: [...scratch, 'RUN ["/program", "fill 8"]', runs],
      detail: /has \d+ MiB; at most 4 MiB/,
      limits: { sizeMaxBytes: 4 * mebibyte },
    },
    {
      dockerfile: [...scratch, 'RUN ["/program", "sleep 600"]', runs],
      detail: /longer than 2 s; its last lines:\n[^]*sleeping$/,
      limits: { timeoutMs: 2_000 },
    },
  ]
  for (const { dockerfile, detail, limits = {} } of faults) {
    const name = `t${unique()}`
    await shop.writeTool(name, { program, Dockerfile: lines(...dockerfile) })
    const built = await shop.build(name, { limits })
    assert.ok(built.kind === 'error', JSON.stringify({ dockerfile, built }))
    assert.match(built.detail, detail)
    assert.deepEqual(await shop.images(), [], dockerfile.join('\n'))
  }
})

test('a shell-form ENTRYPOINT is built and warned about', async (t) => {
  const shop = await openWorkshop(t)
  const name = `t${unique()}`
  await shop.writeTool(name, {
    program: await staticProgram(),
    Dockerfile: lines(...scratch, 'ENTRYPOINT /program'),
  })
  const built = await shop.build(name)
  assert.ok(built.kind === 'ready', JSON.stringify(built))
  assert.match(built.facts.warnings[0] ?? '', /shell form/)
})

test('a name that no image can have, or that a base has, is refused', async (t) => {
  const shop = await openWorkshop(t)
  const base = `t${unique()}`
  await shop.writeBase(base, { Dockerfile: 'FROM scratch\nENV A=1\n' })
  for (const [name, detail] of [
    ['ends_', /no image can be called toolyard\/ends_/],
    ['three___', /no image can be called/],
    [`base-${base}`, /is kept for the base image/],
  ] as const) {
    await shop.writeTool(name, { Dockerfile: lines('FROM scratch', runs) })
    const built = await shop.build(name)
    assert.ok(built.kind === 'error', JSON.stringify(built))
    assert.match(built.detail, detail)
  }
})

test('a build that is cancelled, or whose folder or engine goes away, is no fault of the author', async (t) => {
  const shop = await openWorkshop(t)
  const name = `t${unique()}`
  const seconds = 600 + Math.floor(Math.random() * 1e6)
  const slow = lines(...scratch, `RUN ["/program", "sleep ${seconds}"]`, runs)
  await shop.writeTool(name, { program: await staticProgram(), Dockerfile: slow })
  const controller = new AbortController()
  const building = shop.build(name, { signal: controller.signal })
  const running = async () => {
    const containers = await shop.engine.listContainers()
    return containers.filter(({ Command }) => Command.includes(`sleep ${seconds}`)).length
  }
  await waitUntil('the step runs', async () => (await running()) === 1)
  controller.abort()
  assert.deepEqual(await building, { kind: 'fault', detail: 'the build was cancelled' })
  await waitUntil('the step is dead', async () => (await running()) === 0)
  assert.deepEqual(await shop.images(), [])
  const late = await shop.build(name, { signal: controller.signal })
  assert.equal(late.kind, 'fault')

  const nowhere = openEngine('unix:///nonexistent/docker.sock')
  assert.equal((await shop.build(name, { engine: nowhere })).kind, 'fault')
})

test('a base is made when a tool wants it, once, and again when its folder changes', async (t) => {
  const shop = await openWorkshop(t)
  const program = await staticProgram()
  const [below, base] = [`t${unique()}`, `t${unique()}`]
  await shop.writeBase(below, { program, Dockerfile: lines(...scratch, 'ENV BELOW=1') })
  await shop.writeBase(base, {
    marker: 'one',
    Dockerfile: lines(`FROM toolyard/base-${below}`, 'COPY marker /'),
  })
  const names = ['a', 'b', 'c'].map((letter) => `${letter}${unique()}`)
  for (const name of names) {
    const dockerfile = lines(
      'ARG WHICH',
      `FROM \${WHICH:-toolyard/base-${base}:latest}`,
      `ENV NAME=${name}`,
      runs,
    )
    await shop.writeTool(name, { Dockerfile: dockerfile })
  }
  const count = (name: string) =>
    shop.lines.filter((line) => line.endsWith(`image toolyard/base-${name}`)).length
  const built = await Promise.all(names.map((name) => shop.build(name)))
  for (const one of built) assert.ok(one.kind === 'ready', JSON.stringify(one))
  assert.deepEqual([count(below), count(base)], [1, 1])

  const baseId = async () => (await shop.engine.getImage(`toolyard/base-${base}`).inspect()).Id
  const before = await baseId()
  await shop.writeBase(base, { marker: 'two' })
  assert.equal((await shop.build(names[0] ?? '')).kind, 'ready')
  assert.deepEqual([count(below), count(base)], [1, 2])
  assert.notEqual(await baseId(), before)
  await shop.writeBase(below, { more: 'x' })
  assert.equal((await shop.build(names[0] ?? '')).kind, 'ready')
  assert.deepEqual([count(below), count(base)], [2, 3])
})

test('bases that are made from each other, and one that cannot be read, are told and end nothing else', async (t) => {
  const shop = await openWorkshop(t)
  const [one, two, bad] = [`t${unique()}`, `t${unique()}`, `t${unique()}`]
  await shop.writeBase(one, { Dockerfile: `FROM toolyard/base-${two}\n` })
  await shop.writeBase(two, { Dockerfile: `FROM toolyard/base-${one}\n` })
  await shop.writeBase(bad, { Dockerfil: 'FROM scratch\n' })
  for (const [base, detail] of [
    [one, /made from each other/],
    [bad, /cannot be made: .*Dockerfile is missing/],
  ] as const) {
    const name = `t${unique()}`
    await shop.writeTool(name, { Dockerfile: lines(`FROM toolyard/base-${base}`, runs) })
    const built = await shop.build(name)
    assert.ok(built.kind === 'error', JSON.stringify(built))
    assert.match(built.detail, detail)
  }
  const name = `t${unique()}`
  await shop.writeTool(name, { program: await staticProgram(), Dockerfile: lines(...scratch, runs) })
  assert.equal((await shop.build(name)).kind, 'ready')
})
