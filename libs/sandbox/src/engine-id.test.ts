import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineIdOf } from './engine-id.ts'

const info = { ID: 'AAAA:BBBB', Name: 'host-a', DockerRootDir: '/var/lib/docker', Containers: 3 }

test('an engine is the same as long as it stays where it is', () => {
  assert.equal(engineIdOf(info), engineIdOf({ ...info, Containers: 9 }))
  assert.match(engineIdOf(info) ?? '', /^[0-9a-f]{32}$/)
})

test('daemons of one machine, and machines made from one disk, are different engines', () => {
  const ids = [
    info,
    { ...info, DockerRootDir: '/srv/docker' },
    { ...info, Name: 'host-b' },
    { ...info, ID: 'C' },
  ]
  assert.equal(new Set(ids.map(engineIdOf)).size, 4)
})

test('what is no engine has no id', () => {
  for (const none of [undefined, null, 'x', {}, { ID: '' }, { ID: 7 }])
    assert.equal(engineIdOf(none), undefined)
})
