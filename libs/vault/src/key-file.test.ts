import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataFolder, entry } from '../fixtures/vaults.ts'
import { keyFile, makeKeyFile, readKeyFile } from './key-file.ts'
import { VaultError } from './vault-error.ts'

const isRoot = process.geteuid?.() === 0

/** A folder with a key file that is as it should be. */
function goodFile() {
  const folder = dataFolder()
  const path = keyFile(folder)
  const text = entry('a')
  writeFileSync(path, text, { mode: 0o600 })
  return { folder, path, text }
}

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof VaultError, String(error))
    assert.equal(error.cause, undefined)
    return error.message
  }
  return assert.fail('it was not refused')
}

test('a key file that is made is private, whole, alone in its folder, and read back as it is', () => {
  const folder = dataFolder()
  const path = keyFile(folder)
  assert.equal(readKeyFile(path), undefined)
  const text = makeKeyFile(path)
  assert.match(text, /^k[0-9a-f]{8}:[A-Za-z0-9_-]{43}\n$/)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['vault.keys'])
  assert.equal(readKeyFile(path), text)
})

test('a key file that came into being meanwhile is never replaced, and counts', () => {
  const { folder, path, text } = goodFile()
  assert.equal(makeKeyFile(path), text)
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.deepEqual(readdirSync(folder), ['vault.keys'])
  chmodSync(path, 0o644)
  assert.match(
    refusal(() => makeKeyFile(path)),
    /chmod 600/,
  )
})

for (const mode of [0o644, 0o640, 0o604, 0o601, 0o620, 0o666]) {
  test(`a key file of mode ${mode.toString(8)} is refused with its mend and without its text`, () => {
    const { path, text } = goodFile()
    chmodSync(path, mode)
    const message = refusal(() => readKeyFile(path))
    assert.ok(message.includes(`chmod 600 ${path}`), message)
    assert.ok(!message.includes(text.slice(2)))
  })
}

for (const mode of [0o722, 0o730, 0o702, 0o777, 0o1777]) {
  test(`a data directory of mode ${mode.toString(8)} is refused, with a key file and without`, () => {
    const { folder, path } = goodFile()
    chmodSync(folder, mode)
    assert.match(
      refusal(() => readKeyFile(path)),
      /chmod go-w/,
    )
    const empty = dataFolder()
    chmodSync(empty, mode)
    assert.match(
      refusal(() => makeKeyFile(keyFile(empty))),
      /chmod go-w/,
    )
    assert.deepEqual(readdirSync(empty), [])
  })
}

test('a folder that others may pass and list is no fault', () => {
  const { folder, path, text } = goodFile()
  chmodSync(folder, 0o755)
  assert.equal(readKeyFile(path), text)
})

test('only a file is a key file: no link, no folder, nothing huge', () => {
  const { path } = goodFile()
  const folder = dataFolder()
  symlinkSync(path, keyFile(folder))
  assert.match(
    refusal(() => readKeyFile(keyFile(folder))),
    /not a link/,
  )
  const other = dataFolder()
  mkdirSync(keyFile(other), { mode: 0o700 })
  assert.match(
    refusal(() => readKeyFile(keyFile(other))),
    /is no file/,
  )
  writeFileSync(path, 'x'.repeat(20_000))
  assert.match(
    refusal(() => readKeyFile(path)),
    /too large/,
  )
})

test('a key file or folder of another user is refused', { skip: isRoot ? false : 'needs root' }, () => {
  const { folder, path, text } = goodFile()
  chownSync(path, 1_234, 1_234)
  assert.match(
    refusal(() => readKeyFile(path)),
    /belongs to the user 1234/,
  )
  chownSync(path, 0, 0)
  chownSync(folder, 1_234, 1_234)
  assert.match(
    refusal(() => readKeyFile(path)),
    /belongs to the user 1234/,
  )
  chownSync(folder, 0, 0)
  assert.equal(readKeyFile(path), text)
})

test('without a data directory no key file is made, and the reason is told', () => {
  const path = keyFile(join(dataFolder(), 'gone'))
  assert.equal(readKeyFile(path), undefined)
  assert.match(
    refusal(() => makeKeyFile(path)),
    /make it .* or set YARD_SECRET_KEYS/,
  )
})
