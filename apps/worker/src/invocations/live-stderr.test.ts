import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hearStderr } from './live-stderr.ts'

const secret = 'canary-5ecret-of-the-tool'
const attempt = { id: `inv_${'0'.repeat(26)}`, attempt: 1 }

/** Records what would be sent; `|` is a gap. */
function open(secrets: readonly string[] = [secret]) {
  let said = ''
  let isWanted = true
  const live = {
    write: (text: string) => void (said += text),
    noteGap: () => void (said += '|'),
    end: async () => void (said += '.'),
    hasMore: () => false,
    take: () => undefined,
    takeLast: () => [],
  }
  const hearing = hearStderr({ isWanted: () => isWanted, open: () => live }, attempt, secrets)
  return {
    hear: (text: string | Buffer) => hearing.onStderr(Buffer.from(text)),
    end: hearing.end,
    setWanted: (is: boolean) => void (isWanted = is),
    said: () => said,
  }
}

test('a secret that is cut anywhere, into two chunks or into bytes, is never said', async () => {
  const text = `before ${secret} after`
  for (let cut = 0; cut <= text.length; cut += 1) {
    const { hear, end, said } = open()
    hear(text.slice(0, cut))
    hear(text.slice(cut))
    await end(text.length)
    assert.equal(said(), 'before *** after.')
  }
  const bytewise = open()
  for (const byte of Buffer.from(text).toString('base64')) bytewise.hear(byte)
  await bytewise.end(Buffer.from(text).toString('base64').length)
  assert.ok(!Buffer.from(bytewise.said(), 'base64').includes(secret))
})

test('what nobody watches is not said, and who comes into the middle of a secret gets nothing of it', async () => {
  for (let cut = 1; cut < secret.length; cut += 1) {
    const { hear, end, said, setWanted } = open()
    setWanted(false)
    hear(`unseen ${secret.slice(0, cut)}`)
    assert.equal(said(), '')
    setWanted(true)
    hear(`${secret.slice(cut)} ${'x'.repeat(300)} end`)
    await end(7 + secret.length + 305)
    assert.match(said(), /^\|x+ end\.$/)
  }
})

test('who goes and comes back finds a gap, and nothing of a secret that was being said', () => {
  const { hear, said, setWanted } = open()
  hear(`one ${secret.slice(0, 12)}`)
  setWanted(false)
  hear(secret.slice(12, 20))
  setWanted(true)
  hear(`${secret.slice(20)}${'y'.repeat(400)}`)
  assert.match(said(), /^one \|y+$/)
})

test('half a secret at the end is said only if that was all the tool wrote', async () => {
  const half = secret.slice(0, 12)
  const whole = open()
  whole.hear(`x ${half}`)
  await whole.end(14)
  assert.equal(whole.said(), `x ${half}.`)
  const cut = open()
  cut.hear(`x ${half}`)
  await cut.end(100_000)
  assert.equal(cut.said(), 'x |.')
})

test('a character that is cut is whole again, and without secrets nothing is held back', async () => {
  const { hear, end, said } = open([])
  const bytes = Buffer.from('ä€😀')
  for (const byte of bytes) hear(Buffer.from([byte]))
  assert.equal(said(), 'ä€😀')
  await end(bytes.length)
  assert.equal(said(), 'ä€😀.')
})
