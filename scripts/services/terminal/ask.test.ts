import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { findProgram } from '../machine/find-program.ts'

// `script` gives a program a terminal; what is written to it is what a person types there.
const isThere = findProgram('script') !== undefined
const printAnswer = `"${process.execPath}" "${join(import.meta.dirname, 'fixtures/print-answer.ts')}"`

test(
  'what is typed is the answer, without the space around it',
  { skip: !isThere && 'needs script (util-linux)' },
  async (t) => {
    assert.match(await typed(t, ' delete \r'), /answer: delete\r\n$/)
  },
)

test(
  'Ctrl-C is an interruption, also behind half an answer',
  { skip: !isThere && 'needs script (util-linux)' },
  async (t) => {
    assert.match(await typed(t, '\x03'), /refusal: Interruption: Nothing was done\r\n$/)
    assert.match(await typed(t, 'del\x03'), /refusal: Interruption: Nothing was done\r\n$/)
  },
)

test('Ctrl-D is no answer', { skip: !isThere && 'needs script (util-linux)' }, async (t) => {
  assert.match(await typed(t, '\x04'), /refusal: Failure: Nothing was done: there was no answer\r\n$/)
})

async function typed(t: TestContext, keys: string): Promise<string> {
  const terminal = spawn('script', ['-qec', printAnswer, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(() => terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (data) => (shown += String(data)))
  await waitUntil('the question', () => shown.includes('Go on? '))
  terminal.stdin.write(keys)
  await once(terminal, 'close')
  return shown
}
