import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FinisherInput } from '@toolyard/invocations/finisher'
import { finishUntilCommitted } from './finish-until-committed.ts'

const hold = { id: 'inv_1', token: 't' }
const input: FinisherInput = {
  tool: 'weather',
  hold,
  outcome: { kind: 'failed', failure: { kind: 'tool_error', class: 'internal', message: 'm' } },
  raw: { stdout: Buffer.from('x'), stderrTail: Buffer.alloc(0) },
}
const closed = { kind: 'closed', status: 'failed', isRepeated: false } as const
const log = { warn: () => {}, error: () => {} }
const away = () => new Error('Connection terminated unexpectedly')

function runWith(
  answers: (typeof closed | { kind: 'lost' } | Error)[],
  signal = new AbortController().signal,
) {
  const tried: FinisherInput[] = []
  let retries = 0
  const finish = async (one: FinisherInput) => {
    tried.push(one)
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no more answers')
    return answer
  }
  const onRetry = () => void (retries += 1)
  const finished = finishUntilCommitted(input, { finish, signal, log, onRetry, firstPauseMs: 0.01 })
  return finished.then((answer) => ({ answer, tried, retries }))
}

test('a database that is away is waited for, however long', async () => {
  const { answer, tried, retries } = await runWith([...Array.from({ length: 12 }, away), closed])
  assert.deepEqual([answer, retries], [closed, 12])
  assert.ok(tried.every((one) => one === input))
})

test('a lost token ends it', async () => {
  const { answer, retries } = await runWith([away(), { kind: 'lost' }])
  assert.deepEqual([answer, retries], [{ kind: 'lost' }, 1])
})

test('what the database refuses again and again is told without the words of the tool', async () => {
  const refused = () => new Error('invalid byte sequence')
  const { answer, tried } = await runWith([...Array.from({ length: 5 }, refused), closed])
  assert.deepEqual(answer, closed)
  const last = tried.at(-1)
  assert.deepEqual([tried.length, last?.hold, last?.raw, last?.outcome.kind], [6, hold, undefined, 'failed'])
  assert.ok(last?.outcome.kind === 'failed' && last.outcome.failure.class === 'platform')
})

test('where even that is refused the row is left to those who take it back', async () => {
  const { answer, tried } = await runWith([new Error('refused')])
  assert.deepEqual([answer, tried.length], [{ kind: 'given_up' }, 10])
})

test('a worker that ends tries once, and no more', async () => {
  const { answer, tried } = await runWith([away()], AbortSignal.abort())
  assert.deepEqual([answer, tried.length], [{ kind: 'given_up' }, 1])
  assert.deepEqual((await runWith([closed], AbortSignal.abort())).answer, closed)
})
