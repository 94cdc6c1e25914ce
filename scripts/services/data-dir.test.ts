import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deleteData, isPassableByOthers, prepareDataDir } from './data-dir.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'
import { pathsIn } from './installation.ts'

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

test('deleting the data leaves what is not ours', (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  prepareDataDir(at(dataDir))
  writeFileSync(join(dataDir, 'admin.key'), 'x')
  writeFileSync(join(dataDir, 'thesis.txt'), 'x')
  assert.deepEqual(deleteData(at(dataDir)), ['thesis.txt'])
  assert.deepEqual(readdirSync(dataDir), ['thesis.txt'])
})

test('a data directory that held nothing else is gone, and deleting nothing is no fault', (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  prepareDataDir(at(dataDir))
  assert.deepEqual(deleteData(at(dataDir)), [])
  assert.ok(!existsSync(dataDir))
  assert.deepEqual(deleteData(at(dataDir)), [])
})
