import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactRaw } from './redact-raw.ts'

const secret = 'hunter2-hunter2'
const raw = (
  stdout: string,
  stderrTail: string,
  more: { kind?: 'exited' | 'output_too_large'; stderrBytes?: number } = {},
) =>
  redactRaw(
    {
      kind: 'exited',
      stdout: Buffer.from(stdout),
      stderrTail: Buffer.from(stderrTail),
      stderrBytes: Buffer.byteLength(stderrTail),
      ...more,
    },
    [secret],
  )

test('secrets are taken out of both streams, and bytes that are no text stay as they are', () => {
  const { stdout, stderrTail } = raw(`a ${secret} b`, Buffer.from(secret).toString('base64'))
  assert.deepEqual([String(stdout), String(stderrTail)], ['a *** b', '***'])
  const bytes = Buffer.from([0, 255, 128, 10])
  const kept = redactRaw({ kind: 'exited', stdout: bytes, stderrTail: bytes, stderrBytes: 4 }, [secret])
  assert.deepEqual([kept.stdout, kept.stderrTail], [bytes, bytes])
})

test('at a cut nothing is kept that could be half of a secret', () => {
  const margin = 6 * secret.length
  const filler = 'x'.repeat(500)
  const head = raw(`${filler}${secret.slice(0, 12)}`, '', { kind: 'output_too_large' }).stdout
  assert.equal(String(head), filler.slice(0, 512 - margin))
  const tail = raw('', `${secret.slice(3)}${filler}`, { stderrBytes: 9_000 }).stderrTail
  assert.equal(String(tail), filler.slice(margin - 12))
})

test('without secrets nothing is left out', () => {
  const stdout = Buffer.from('x'.repeat(100))
  const kept = redactRaw({ kind: 'output_too_large', stdout, stderrTail: stdout, stderrBytes: 10_000 }, [])
  assert.deepEqual([kept.stdout, kept.stderrTail], [stdout, stdout])
})
