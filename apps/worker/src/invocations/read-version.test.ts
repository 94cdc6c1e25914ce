import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVersionReader, toRunnableImage } from './read-version.ts'

const stored = {
  name: 'old',
  description: 'd',
  trigger: { type: 'on_demand' },
  parameters: {},
  returns: {},
}

test('what an older release did not store is filled in', () => {
  const read = createVersionReader()
  const manifest = read({ hash: 'h1', manifest: stored })
  assert.deepEqual([manifest?.constraints.rerun, manifest?.sandbox.reuse], [true, 1])
  assert.equal(read({ hash: 'h1', manifest: stored }), manifest, 'read once')
})

test('what this release does not take any more is told apart, and disturbs no other', () => {
  const read = createVersionReader()
  assert.equal(read({ hash: 'h1', manifest: { ...stored, sandbox: { reuse: 0 } } }), undefined)
  assert.equal(read({ hash: 'h2', manifest: stored })?.name, 'old')
})

test('an image is run as it was built', () => {
  const facts = { entrypoint: ['/run'], volumes: ['/data'], user: { uid: 1, gid: 2 }, warnings: ['w'] }
  const { warnings: _, ...kept } = facts
  assert.deepEqual(toRunnableImage('sha256:1', facts), { id: 'sha256:1', ...kept })
})
