import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { probeContext } from '../fixtures/probe-image.ts'
import { buildImage } from './build-image.ts'
import { imageLabels } from './image-labels.ts'
import { listToolImages } from './list-tool-images.ts'
import { openEngine } from './open-engine.ts'
import { removeToolImage } from './remove-tool-image.ts'
import { hasImage } from './store-image.ts'
import { tagImage } from './tag-image.ts'
import { untagImage } from './untag-image.ts'

const docker = openEngine(testDockerHost())

/** An image of its own content, so that no other test's is the same. */
async function makeImage(
  t: TestContext,
  labels: Record<string, string>,
): Promise<{ id: string; name: string }> {
  const name = `toolyard/test-${randomUUID()}:h-1`
  t.after(() => removeByForce(name))
  const built = await buildImage(docker, {
    context: await probeContext([`ENV UNIQUE=${name}`]),
    tag: name,
    labels,
    networkMode: 'none',
    timeoutMs: 30_000,
    sizeMaxBytes: 64 * 1_048_576,
    memoryBytes: 64 * 1_048_576,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  assert.ok(built.kind === 'built', JSON.stringify(built))
  return { id: built.id, name }
}

async function removeByForce(name: string): Promise<void> {
  await docker
    .getImage(name)
    .remove({ force: true })
    .catch(() => {})
}

const identityOf = (instance: string) => imageLabels({ instance, tool: 'probe', hash: 'abc' })

test('an image is removed with all names that we gave it', async (t) => {
  const instance = randomUUID()
  const { id, name } = await makeImage(t, identityOf(instance))
  await tagImage(docker, id, name.replace(':h-1', ':latest'))
  assert.deepEqual(
    (await listToolImages(docker, instance)).map((image) => image.id),
    [id],
  )
  assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'removed' })
  assert.equal(await hasImage(docker, id), false)
  assert.deepEqual(await listToolImages(docker, instance), [])
  assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'gone' })
})

test("another instance's image, and one that is no tool's, is neither listed nor removed", async (t) => {
  const instance = randomUUID()
  const others = await makeImage(t, identityOf(randomUUID()))
  const plain = await makeImage(t, { 'toolyard.instance': instance })
  for (const { id } of [others, plain]) {
    assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'not_ours' })
    assert.equal(await hasImage(docker, id), true)
  }
  assert.deepEqual(await listToolImages(docker, instance), [])
})

test('what somebody built from a tool, or named for himself, is not ours to remove', async (t) => {
  const instance = randomUUID()
  const { id, name } = await makeImage(t, identityOf(instance))
  const theirs = `somebody/test-${randomUUID()}:1`
  t.after(() => removeByForce(theirs))
  await tagImage(docker, id, theirs)
  assert.equal((await listToolImages(docker, instance)).length, 1)
  assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'not_ours' })
  assert.equal(await hasImage(docker, name), true)
})

test('an image that a container is made of stays, with a name', async (t) => {
  const instance = randomUUID()
  const { id, name } = await makeImage(t, identityOf(instance))
  const second = name.replace(':h-1', ':latest')
  await tagImage(docker, id, second)
  const container = await docker.createContainer({
    Image: id,
    Cmd: ['/probe'],
    HostConfig: { NetworkMode: 'none' },
  })
  t.after(() => container.remove({ force: true }).catch(() => {}))
  assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'in_use' })
  const { RepoTags } = await docker.getImage(id).inspect()
  assert.equal(RepoTags.length, 1)
  assert.equal((await listToolImages(docker, instance)).length, 1)
  await container.remove()
  assert.deepEqual(await removeToolImage(docker, { id, instance }), { kind: 'removed' })
})

test('a name goes without the image that others are made of, and a name that is gone is gone', async (t) => {
  const { id, name } = await makeImage(t, {})
  const copy = name.replace(':h-1', ':copy')
  await tagImage(docker, id, copy)
  await untagImage(docker, copy)
  await untagImage(docker, copy)
  assert.equal(await hasImage(docker, copy), false)
  assert.equal(await hasImage(docker, id), true)
})
