import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { openProxy } from '@toolyard/testkit/open-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { probeContext } from '../fixtures/probe-image.ts'
import type { BuildOutcome, BuildRequest } from './build-image.ts'
import { buildImage } from './build-image.ts'
import { imageLabels } from './image-labels.ts'
import { listToolImages } from './list-tool-images.ts'
import { openEngine } from './open-engine.ts'
import { hasImage } from './store-image.ts'
import { writeTar } from './tar.ts'

const docker = openEngine(testDockerHost())
const mebibyte = 1_048_576

type Built = { outcome: BuildOutcome; lines: string[]; tag: string }

async function build(
  t: TestContext,
  lines: readonly string[],
  changes: Partial<BuildRequest> = {},
): Promise<Built> {
  return buildContext(t, await probeContext(lines), changes)
}

async function buildContext(
  t: TestContext,
  context: Readable,
  changes: Partial<BuildRequest> = {},
): Promise<Built> {
  const tag = `toolyard/test-${randomUUID()}:1`
  const lines: string[] = []
  t.after(async () => {
    await docker
      .getImage(tag)
      .remove({ force: true })
      .catch(() => {})
  })
  const outcome = await buildImage(docker, {
    context,
    tag,
    labels: {},
    networkMode: 'none',
    timeoutMs: 60_000,
    sizeMaxBytes: 64 * mebibyte,
    memoryBytes: 256 * mebibyte,
    signal: new AbortController().signal,
    onProgress: (line) => lines.push(line),
    ...changes,
  })
  return { outcome, lines, tag }
}

/** A Dockerfile and nothing else. */
const bare = (dockerfile: string) =>
  Readable.from([writeTar([{ name: 'Dockerfile', content: Buffer.from(dockerfile), mode: 0o644 }])])

const run = (order: string) => `RUN ["/probe", "${order}"]`

/** Long, and unlike any other's, so that what runs with it is found. */
const uniqueMs = () => 600_000 + Math.floor(Math.random() * 1e6)

/** The containers in which a command that has this word in it runs. */
async function containersOf(word: string): Promise<string[]> {
  const all = await docker.listContainers({ all: true })
  return all.filter(({ Command }) => Command.includes(word)).map(({ Id }) => Id)
}

test('a Dockerfile becomes an image with its name and labels, and its steps are told', async (t) => {
  const identity = { instance: randomUUID(), tool: 'probe', hash: 'abc' }
  const { outcome, lines, tag } = await build(
    t,
    [
      'ARG WORD',
      'ENV WORD=$WORD',
      'LABEL toolyard.instance=forged',
      run('env WORD'),
      'ENTRYPOINT ["/probe"]',
    ],
    { labels: imageLabels(identity), buildArgs: { WORD: 'given' }, cpus: 0.5 },
  )
  assert.ok(outcome.kind === 'built', JSON.stringify(outcome))
  const { Id, Size, Config } = await docker.getImage(tag).inspect()
  assert.deepEqual(outcome, { kind: 'built', id: Id, bytes: Size })
  assert.deepEqual(Config.Labels, imageLabels(identity))
  assert.equal(lines[0], 'Step 1/10 : FROM scratch')
  assert.ok(
    lines.some((line) => line.startsWith('given')),
    lines.join('\n'),
  )
  assert.deepEqual(
    (await listToolImages(docker, identity.instance)).map(({ id, tool, hash }) => ({ id, tool, hash })),
    [{ id: Id, tool: 'probe', hash: 'abc' }],
  )
})

test("a Dockerfile's fault is told in the builder's own words", async (t) => {
  const faults: [Readable, RegExp][] = [
    [bare('FROM scratch\nFOO bar\n'), /^dockerfile parse error line 2: unknown instruction: FOO$/],
    [bare('FROM scratch\nCOPY runner.sh /\n'), /Step 2.*\nCOPY failed: file not found.*runner\.sh/],
    [bare('FROM scratch\nCOPY --chmod=755 Dockerfile /\n'), /the --chmod option requires BuildKit/],
    [bare('FROM scratch\nCOPY <<EOF /x\nhello\nEOF\n'), /hello|EOF/i],
    [bare('FROM scratch\n'), /No image was generated/],
    [bare(''), /cannot be empty/],
    [bare('FROM toolyard-test/there-is-none:1\n'), /./],
    [Readable.from([writeTar([{ name: 'x', content: Buffer.from('x'), mode: 0o644 }])]), /Dockerfile/],
    [
      await probeContext([run('fail no such package')]),
      /^no such package\n[^]*returned a non-zero code: 7$/m,
    ],
  ]
  for (const [context, expected] of faults) {
    const { outcome, tag } = await buildContext(t, context)
    assert.ok(outcome.kind === 'failed', JSON.stringify(outcome))
    assert.match(outcome.detail, expected)
    assert.doesNotMatch(outcome.detail, /HTTP code/)
    assert.equal(await hasImage(docker, tag), false)
  }
})

test('of a long output the end is told, without what a terminal would obey', async (t) => {
  const { outcome } = await build(t, [run('pattern 300000'), run('exit 3')])
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome))
  assert.ok(Buffer.byteLength(outcome.detail) <= 8_192)
  assert.match(outcome.detail, /non-zero code: 3$/)
  assert.doesNotMatch(outcome.detail, /(?![\n\t])\p{Cc}/u)
})

test('a build that prints without end costs little memory and is ended by its time', async (t) => {
  const before = process.memoryUsage().rss
  const { outcome, lines } = await build(t, [run('pattern 100000000000')], { timeoutMs: 4_000 })
  assert.ok(outcome.kind === 'timed_out', JSON.stringify(outcome))
  assert.equal(lines.length, 10_000)
  assert.ok(process.memoryUsage().rss - before < 200 * mebibyte)
  await waitUntil('no container', async () => (await containersOf('pattern 100000000000')).length === 0)
})

test('time over: the step is killed on the engine and its container removed', async (t) => {
  const order = `sleep ${uniqueMs()}`
  const { outcome, tag } = await build(t, [run(order)], { timeoutMs: 3_000 })
  assert.ok(outcome.kind === 'timed_out', JSON.stringify(outcome))
  assert.match(outcome.lastLines, /sleeping$/)
  await waitUntil('no container', async () => (await containersOf(order)).length === 0)
  assert.equal(await hasImage(docker, tag), false)
})

test('a cancelled build stops on the engine, and one cancelled beforehand does not begin', async (t) => {
  const order = `sleep ${uniqueMs()}`
  const controller = new AbortController()
  const building = build(t, [run(order)], { signal: controller.signal })
  await waitUntil('the step runs', async () => (await containersOf(order)).length === 1)
  controller.abort()
  assert.deepEqual((await building).outcome, { kind: 'cancelled' })
  await waitUntil('no container', async () => (await containersOf(order)).length === 0)
  const late = await build(t, [run(order)], { signal: controller.signal })
  assert.deepEqual([late.outcome, late.lines], [{ kind: 'cancelled' }, []])
})

test('an image over the limit is removed', async (t) => {
  const { outcome, tag } = await build(t, [run('fill 8')], { sizeMaxBytes: 4 * mebibyte })
  assert.ok(outcome.kind === 'too_large' && outcome.bytes > 8 * mebibyte, JSON.stringify(outcome))
  assert.equal(await hasImage(docker, tag), false)
})

test('a step that fills the disk is stopped while it runs', async (t) => {
  const order = `fill 300 ${uniqueMs()}`
  const { outcome } = await build(t, [run(order)], {
    sizeMaxBytes: 200 * mebibyte,
    timeoutMs: 30_000,
  })
  assert.ok(outcome.kind === 'too_large' && outcome.bytes >= 300 * mebibyte, JSON.stringify(outcome))
  await waitUntil('no container', async () => (await containersOf(order)).length === 0)
})

test('a step has no more memory than it is given', async (t) => {
  const { outcome } = await build(t, [run('hog 400')], { memoryBytes: 64 * mebibyte })
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome))
  assert.match(outcome.detail, /non-zero code: 137/)
})

test('an engine that is not there or goes away is no fault of the author', async (t) => {
  const request = {
    tag: 'toolyard/test-nowhere:1',
    labels: {},
    networkMode: 'none',
    timeoutMs: 60_000,
    sizeMaxBytes: mebibyte,
    memoryBytes: 64 * mebibyte,
    signal: new AbortController().signal,
    onProgress: () => {},
  }
  const nowhere = openEngine('unix:///nonexistent/docker.sock')
  const absent = await buildImage(nowhere, { ...request, context: bare('FROM scratch') })
  assert.equal(absent.kind, 'engine_failed')

  const proxy = await openProxy(testDockerHost())
  t.after(() => proxy.close())
  const order = `sleep ${uniqueMs()}`
  const context = await probeContext([run(order)])
  const building = buildImage(openEngine(proxy.url), { ...request, context })
  await waitUntil('the step runs', async () => (await containersOf(order)).length === 1)
  proxy.cut()
  assert.equal((await building).kind, 'engine_failed')
  await waitUntil('no container', async () => (await containersOf(order)).length === 0)
})

test('what cannot be read is told apart from what cannot be built', async (t) => {
  const broken = new Readable({
    read() {
      this.destroy(new Error('runner.sh has another size now'))
    },
  })
  const { outcome } = await buildContext(t, broken)
  assert.deepEqual(outcome, { kind: 'context_failed', detail: 'runner.sh has another size now' })
})
