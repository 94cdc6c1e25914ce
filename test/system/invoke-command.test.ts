import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { removeImagesAfter } from '../fixtures/remove-images-after.ts'
import { outcomeOf, runningYard, succeeded, testYard } from '../fixtures/yard.ts'
import { assertUsage } from './fixtures/assert-usage.ts'
import { shellTool, writeTool } from './fixtures/write-tool.ts'

// `./yard invoke` and `./yard watch` as their users type them, beside a real installation.

const script = `for step in 1 2 3 4 5 6; do echo "step $step" >&2; sleep 0.5; done
jq -nc '{text: "all done"}'
`

test('what is typed wrongly ends with 2, and what does not run with 1 and the way to start it', async (t) => {
  const yard = await testYard(t)
  const wrong = [
    ['invoke'],
    ['invoke', 'a', 'b'],
    ['invoke', 'a', '--params', '{'],
    ['invoke', 'a', '--idempotency-key', 'a b'],
    ['watch'],
    ['watch', 'inv_1', '--nothing'],
  ]
  const right = [
    ['invoke', 'a'],
    ['watch', 'inv_1'],
  ]
  await assertUsage(yard, wrong, right)
})

test('a call is followed to its end with what the tool says, and Ctrl-C ends only the watching', async (t) => {
  const yard = await runningYard(t)
  removeImagesAfter(t, yard)
  writeTool(yard.toolDir, 'talking', shellTool(script))
  succeeded(await yard.run(['tool', 'build', 'talking']))

  const waited = await yard.run(['invoke', 'talking', '--wait'])
  assert.match(succeeded(waited), /^succeeded [^]*all done$/m)
  assert.match(waited.stderr, /is running, attempt 1\n[^]*step 5\nstep 6\n[^]*has ended: succeeded\n/)

  const once = ['invoke', 'talking', '--idempotency-key', 'once', '--json']
  const { id } = JSON.parse(succeeded(await yard.run(once)))
  const watching = yard.start(['watch', id])
  let said = ''
  watching.stderr?.on('data', (data) => (said += String(data)))
  await waitUntil('its first words', () => /step \d/.test(said), 30_000)
  watching.kill('SIGINT')
  const stopped = await outcomeOf(watching)
  assert.equal(stopped.code, 130)
  assert.match(said + stopped.stderr, /goes on/)

  const watched = await yard.run(['watch', id, '--json'])
  const lines = succeeded(watched)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(lines.at(-1)?.invocation.result.text, 'all done')
  assert.equal(lines.at(-2)?.status, 'succeeded')
  assert.equal(JSON.parse(succeeded(await yard.run(once))).id, id)
  assert.equal((await yard.run(['watch', `inv_${'0'.repeat(26)}`])).code, 1)
})
