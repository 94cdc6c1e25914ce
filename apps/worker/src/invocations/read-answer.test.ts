import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manifest } from '@toolyard/contract/manifest'
import type { Outcome } from '@toolyard/sandbox/outcome'
import { readAnswer } from './read-answer.ts'

const tool = manifest.parse({
  name: 'digest',
  description: 'Digest',
  trigger: { type: 'cron', schedule: '*/30', prompt: 'Summarize:' },
  parameters: {},
  returns: {},
})

function answer(said: object, secrets: string[] = []) {
  const stdout = Buffer.from(JSON.stringify(said))
  const stderrTail = Buffer.alloc(0)
  const outcome: Extract<Outcome, { kind: 'exited' }> = {
    kind: 'exited',
    code: 0,
    stdout,
    stderrTail,
    stderrBytes: 0,
    isOutputComplete: true,
    wallMs: 12,
    cpuMs: 1,
    isHandedOver: true,
  }
  return readAnswer(outcome, { stdout, stderrTail }, { manifest: tool, params: {}, secrets, knownNames: [] })
}

test('what a tool says to the platform stands beside the result, and not in it', () => {
  const outcome = answer({ text: 'x', notify: false, priority: 'low', _state: { seen: [1] } })
  assert.ok(outcome.kind === 'succeeded')
  assert.deepEqual(outcome.notes, { notify: false, priority: 'low', state: { seen: [1] } })
  assert.doesNotMatch(JSON.stringify(outcome.result), /seen|notify|priority/)
  const silent = answer({ text: 'x' })
  assert.ok(silent.kind === 'succeeded' && !('notes' in silent))
})

test('a secret in what a tool wants to be told the next time is gone before that is kept (I6)', () => {
  const outcome = answer({ text: 'x', _state: { 'key-0123456789': ['0123456789'] } }, ['0123456789'])
  assert.ok(outcome.kind === 'succeeded')
  assert.deepEqual(outcome.notes, { state: { 'key-***': ['***'] } })
})

test('what a tool that failed says of a state counts for nothing', () => {
  const outcome = answer({ error: 'no', _state: 1, notify: true })
  assert.ok(outcome.kind === 'failed' && !('notes' in outcome))
})
