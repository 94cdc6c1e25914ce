import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { newDataKey, unwrapDataKey, wrapDataKey } from './data-key.ts'
import { toMasterKeys } from './master-key.ts'
import { sealSetting, unsealSetting } from './setting.ts'

const refusal = { name: 'AppError', code: 'secrets_unavailable' }
const masterKeys = toMasterKeys([
  { id: 'a', bytes: randomBytes(32) },
  { id: 'b', bytes: randomBytes(32) },
])

test('a data key opens for its own tool and under its own master key alone', () => {
  const dataKey = newDataKey()
  const row = wrapDataKey(masterKeys.current, 'mail', dataKey)
  assert.equal(row.master_key_id, 'a')
  assert.ok(!row.wrapped.includes(dataKey))
  assert.deepEqual(unwrapDataKey(masterKeys, row), dataKey)
  for (const other of [{ tool: 'chat' }, { master_key_id: 'b' }, { master_key_id: 'gone' }])
    assert.throws(() => unwrapDataKey(masterKeys, { ...row, ...other }), refusal)
})

test('a value opens for its own tool alone, even under the same data key', () => {
  const dataKey = newDataKey()
  const row = sealSetting(dataKey, 'mail', { key: 'token', secret: true, value: 'c4n4ry' })
  assert.equal(unsealSetting(dataKey, 'mail', row).value, 'c4n4ry')
  assert.throws(() => unsealSetting(dataKey, 'chat', row), refusal)
  for (const other of [{ key: 'note' }, { secret: false }])
    assert.throws(() => unsealSetting(dataKey, 'mail', { ...row, ...other }), refusal)
})

test('the bytes of a master key are zeroed, and its proof is neither them nor the same under another id', () => {
  const given = randomBytes(32)
  const [first, second] = [Buffer.from(given), Buffer.from(given)]
  const { current } = toMasterKeys([{ id: 'a', bytes: first }])
  const other = toMasterKeys([{ id: 'b', bytes: second }]).current
  assert.ok(first.equals(Buffer.alloc(32)) && second.equals(Buffer.alloc(32)))
  assert.ok(!current.proof.equals(given) && !current.proof.equals(other.proof))
  assert.ok(!current.wrapping.export().equals(current.proof))
})
