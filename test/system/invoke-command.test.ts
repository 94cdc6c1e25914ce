import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Outcome, Yard } from './fixtures/yard.ts'
import { outcomeOf, projectRoot, testYard } from './fixtures/yard.ts'

// `./yard invoke` and `./yard watch` as their users type them, beside a real installation.

const script = `for step in 1 2 3 4 5 6; do echo "step $step" >&2; sleep 0.5; done
jq -nc '{text: "all done"}'
`

function addTool(dir: string): void {
  cpSync(join(projectRoot, 'tools', '_base'), join(dir, '_base'), { recursive: true })
  const folder = join(dir, 'talking')
  mkdirSync(folder)
  const manifest = {
    $schema: '../manifest.schema.json',
    name: 'talking',
    description: 'A tool that is made for one test: it says on stderr how far it has come.',
    trigger: { type: 'on_demand' },
    parameters: {},
    returns: {},
    sandbox: { network: 'none' },
    examples: [{ description: 'Try it' }],
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  writeFileSync(
    join(folder, 'Dockerfile'),
    'FROM toolyard/base-shell\nCOPY runner.sh /runner.sh\nENTRYPOINT ["bash", "/runner.sh"]\n',
  )
  writeFileSync(join(folder, 'runner.sh'), script)
}

/** Called after `testYard`, it comes after its `down`. */
function removeImagesAfter(t: TestContext, { dataDir }: Yard): void {
  const instance = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 10)
  t.after(async () => {
    const docker = openEngine(testDockerHost())
    for (const { id } of await listToolImages(docker, instance))
      await removeToolImage(docker, { id, instance })
  })
}

function succeeded({ code, stdout, stderr }: Outcome): string {
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  return stdout
}

test('what is typed wrongly ends with 2, and what does not run with 1 and the way to start it', async (t) => {
  const yard = await testYard(t)
  for (const words of [
    ['invoke'],
    ['invoke', 'a', 'b'],
    ['invoke', 'a', '--params', '{'],
    ['invoke', 'a', '--idempotency-key', 'a b'],
    ['watch'],
    ['watch', 'inv_1', '--nothing'],
  ])
    assert.equal((await yard.run(words)).code, 2, words.join(' '))
  for (const words of [
    ['invoke', 'a'],
    ['watch', 'inv_1'],
  ]) {
    const { code, stderr } = await yard.run(words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, /\.\/yard up/)
  }
})

test('a call is followed to its end with what the tool says, and Ctrl-C ends only the watching', async (t) => {
  const yard = await testYard(t)
  removeImagesAfter(t, yard)
  addTool(yard.toolDir)
  succeeded(await yard.run(['up', '--detach']))
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
