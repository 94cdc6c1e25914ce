import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openWitness } from './open-witness.ts'

test('a tool that is killed in the middle of its words ends neither the witness nor what it has heard', async (t) => {
  const witness = await openWitness()
  t.after(() => witness.close())
  const speak = async (invocation: string) => {
    const tool = connect(witness.port, '127.0.0.1')
    tool.on('error', () => {})
    await once(tool, 'connect')
    tool.write(`start ${invocation} 1 1000000\n`)
    await once(tool, 'data')
    return tool
  }
  const killed = await speak('inv_1')
  const gone = once(killed, 'close')
  killed.resetAndDestroy()
  await gone
  const other = await speak('inv_2')
  other.end()
  await waitUntil('both to be noted', () => witness.runs().length === 2)
  assert.deepEqual(
    witness.runs().map(({ invocation }) => invocation),
    ['inv_1', 'inv_2'],
  )
})
