import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { hasImage } from '@toolyard/sandbox/store-image'
import { untagImage } from '@toolyard/sandbox/untag-image'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { DebianRequest } from './make-debian.ts'
import { makeDebian } from './make-debian.ts'

// That it makes one is seen by every test that builds on a base, where no registry answers.

const engine = openEngine(testDockerHost())

function request(t: TestContext, changes: Partial<DebianRequest>): DebianRequest {
  const name = `toolyard/debian-${randomUUID()}:test`
  t.after(() => untagImage(engine, name))
  return { name, packages: [], signal: new AbortController().signal, onProgress: () => {}, ...changes }
}

test('without mmdebstrap that is what is said, and no image is made', async (t) => {
  const wanted = request(t, { path: '/nonexistent' })
  assert.deepEqual(await makeDebian(engine, wanted), { kind: 'program_missing' })
  assert.equal(await hasImage(engine, wanted.name), false)
})

test('one that is broken off leaves neither half an image nor what it had unpacked', async (t) => {
  const controller = new AbortController()
  let folder: string | undefined
  const wanted = request(t, {
    packages: ['ca-certificates'],
    signal: controller.signal,
    onProgress(line) {
      folder ??= /using (\S+) as tempdir/.exec(line)?.[1]
      if (/running apt-get update/.test(line)) controller.abort()
    },
  })
  const made = await makeDebian(engine, wanted)
  // A machine without the program has nothing to break off.
  assert.ok(made.kind === 'failed' || made.kind === 'program_missing', JSON.stringify(made))
  assert.equal(await hasImage(engine, wanted.name), false)
  assert.ok(made.kind === 'program_missing' || folder !== undefined)
  assert.equal(existsSync(folder ?? '/nonexistent'), false)
})

test('an engine that is not there ends it', async (t) => {
  const wanted = request(t, { packages: ['there-is-no-such-package'] })
  const made = await makeDebian(openEngine('unix:///nonexistent/docker.sock'), wanted)
  assert.notEqual(made.kind, 'made')
})
