import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { deleteData, hasDataDir, isPassableByOthers, prepareDataDir } from './data-dir.ts'
import { pathsIn } from './installation.ts'
import { isRoot } from '../machine/is-root.ts'

const at = (dataDir: string) => ({ dataDir, paths: pathsIn(dataDir) })

test('a new data directory may be passed by others and listed by its owner alone', (t) => {
  const dataDir = join(temporaryFolder(t), 'a', 'b')
  prepareDataDir(at(dataDir))
  assert.equal(statSync(dataDir).mode & 0o777, 0o711)
  assert.equal(statSync(join(dataDir, 'run')).mode & 0o777, 0o700)
  assert.equal(isPassableByOthers(dataDir), true)
})

test('a data directory that cannot be made is refused with the setting to change', (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  assert.throws(() => prepareDataDir(at(join(file, 'data'))), {
    name: 'Failure',
    message: /cannot be written by .* \(ENOTDIR\): make it writable, or set YARD_DATA_DIR/,
  })
})

test('one closed folder on the way is enough to keep others out, also for what does not exist yet', (t) => {
  const folder = join(temporaryFolder(t), 'closed')
  mkdirSync(join(folder, 'inner'), { recursive: true })
  assert.equal(isPassableByOthers(join(folder, 'inner', 'new', 'newer')), true)
  chmodSync(folder, 0o700)
  assert.equal(isPassableByOthers(join(folder, 'inner')), false)
  assert.equal(isPassableByOthers(join(folder, 'inner', 'new', 'newer')), false)
})

test('a folder with something in it is not taken, not written to, and nothing in it is deleted', (t) => {
  const dataDir = temporaryFolder(t)
  mkdirSync(join(dataDir, 'logs'))
  for (const work of [prepareDataDir, hasDataDir, deleteData]) {
    assert.throws(() => work(at(dataDir)), {
      name: 'Failure',
      message: /is not one of Toolyard's data directories.*set YARD_DATA_DIR to an empty or new one/,
    })
  }
  assert.deepEqual(readdirSync(dataDir), ['logs'])
})

test('an empty folder is taken, and is ours from then on', (t) => {
  const dataDir = temporaryFolder(t)
  assert.equal(hasDataDir(at(dataDir)), false)
  prepareDataDir(at(dataDir))
  writeFileSync(join(dataDir, 'thesis.txt'), 'x')
  prepareDataDir(at(dataDir))
  assert.equal(hasDataDir(at(dataDir)), true)
})

test('a data directory from before there was a mark is known by its files, unless there are others', (t) => {
  const dataDir = temporaryFolder(t)
  for (const name of ['logs', 'run', 'postgres']) mkdirSync(join(dataDir, name))
  writeFileSync(join(dataDir, 'postgres.json'), '{}')
  assert.equal(hasDataDir(at(dataDir)), true)
  writeFileSync(join(dataDir, 'thesis.txt'), 'x')
  assert.throws(() => hasDataDir(at(dataDir)), { name: 'Failure' })
  rmSync(join(dataDir, 'thesis.txt'))
  prepareDataDir(at(dataDir))
  writeFileSync(join(dataDir, 'thesis.txt'), 'x')
  assert.equal(hasDataDir(at(dataDir)), true, 'it has its mark now')
})

test('deleting the data leaves what is not ours, and the folder can be used again', (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  prepareDataDir(at(dataDir))
  writeFileSync(join(dataDir, 'admin.key'), 'x')
  writeFileSync(join(dataDir, 'thesis.txt'), 'x')
  assert.deepEqual(deleteData(at(dataDir)), ['thesis.txt'])
  assert.deepEqual(readdirSync(dataDir).toSorted(), ['.toolyard-data', 'thesis.txt'])
  prepareDataDir(at(dataDir))
})

test('a disk that the operator put somewhere in it is emptied, and stays', (t) => {
  if (!isRoot()) return t.skip('needs root')
  const dataDir = temporaryFolder(t)
  const { engine } = pathsIn(dataDir)
  prepareDataDir(at(dataDir))
  mkdirSync(engine)
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', engine])
  try {
    writeFileSync(join(engine, 'image'), 'x')
    assert.deepEqual(deleteData(at(dataDir)), ['engine'])
    assert.deepEqual(readdirSync(engine), [])
  } finally {
    execFileSync('umount', [engine])
  }
})

test('a data directory that held nothing else is gone, and deleting nothing is no fault', (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  prepareDataDir(at(dataDir))
  assert.deepEqual(deleteData(at(dataDir)), [])
  assert.ok(!existsSync(dataDir))
  assert.deepEqual(deleteData(at(dataDir)), [])
})
