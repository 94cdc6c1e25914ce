import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { loadConfig } from './load.ts'
import { readSecretKeys, secretKeys } from './secret-keys.ts'

const key = () => randomBytes(32).toString('base64url')
const [one, two] = [key(), key()]

test('the keys are read in their order, from one line or several', () => {
  for (const text of [`a:${one},b-2:${two}`, ` a:${one} , b-2:${two},`, `a:${one}\nb-2:${two}\n`]) {
    const read = readSecretKeys(text)
    assert.ok('keys' in read, text)
    assert.deepEqual(
      read.keys.map(({ id, bytes }) => [id, bytes.toString('base64url')]),
      [
        ['a', one],
        ['b-2', two],
      ],
    )
  }
})

const form = 'must be an id, a colon and a key'
const id = 'must begin with an id of 1 to 40 letters, digits, "_" or "-"'
const bytes =
  'must have 32 bytes in base64url without padding behind its colon: 43 letters, digits, "_" or "-"'
const faulty: [string, string[]][] = [
  ['', ['must have an entry, as id:key']],
  [' ,\n', ['must have an entry, as id:key']],
  [one, [`entry 1 ${form}`]],
  [`a:${one}:b`, [`entry 1 ${form}`]],
  [`:${one}`, [`entry 1 ${id}`]],
  [`a.b:${one}`, [`entry 1 ${id}`]],
  [`${'x'.repeat(41)}:${one}`, [`entry 1 ${id}`]],
  ['a:', [`entry 1 ${bytes}`]],
  [`a:${one}=`, [`entry 1 ${bytes}`]],
  [`a:${one.slice(1)}`, [`entry 1 ${bytes}`]],
  [`a:${one}A`, [`entry 1 ${bytes}`]],
  // the last character holds two bits that belong to no byte
  [`a:${'A'.repeat(42)}B`, [`entry 1 ${bytes}`]],
  [`a:${Buffer.alloc(32, 0xff).toString('base64')}`, [`entry 1 ${bytes}`]],
  [`a:${one},a:${two}`, ['entry 2 has the id of entry 1']],
  [`a:${one},b:${one}`, ['entry 2 has the key of entry 1']],
  [`a,b:${one},c:x,b:${two}`, [`entry 1 ${form}`, `entry 3 ${bytes}`, 'entry 4 has the id of entry 2']],
  [Array.from({ length: 17 }, (_, n) => `k${n}:${one}`).join(), ['may have at most 16 entries']],
]

test('every fault is told, each by the place of its entry', () => {
  for (const [text, faults] of faulty) assert.deepEqual(readSecretKeys(text), { faults })
})

test('the configuration refuses a faulty list without a word of it, and shows nothing of a good one (I6)', () => {
  const good = loadConfig(['secretKeys'], { YARD_SECRET_KEYS: `first:${one}` })
  assert.equal(good.secretKeys?.reveal(), `first:${one}`)
  assert.ok(!inspect(good, { depth: 9, showHidden: true }).includes(one))
  for (const text of [one, `first;${one}`, `first:${one},second:${two}x`]) {
    const parsed = secretKeys().safeParse(text)
    assert.equal(parsed.success, false)
    assert.throws(
      () => loadConfig(['secretKeys'], { YARD_SECRET_KEYS: text }),
      (error) => {
        const shown = inspect([error, parsed], { depth: 9 })
        return shown.includes('entry') && !['first', 'second', one, two].some((part) => shown.includes(part))
      },
    )
  }
})
