import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { outcomeOf, partOf, projectRoot, runningYard, succeeded, testYard } from '../fixtures/yard.ts'

// The command typed by another user, in another folder, at a terminal that is left, and into a pipe that is read slowly.

const program = join(projectRoot, 'yard')
const nobody = { uid: 65_534, gid: 65_534 }
const canBeNobody = spawnSync(program, ['help'], nobody).status === 0
const hasTerminal = spawnSync('script', ['--version']).status === 0

test(
  'another user than the one who started it is told so',
  { skip: !canBeNobody && 'needs root, and a checkout that others can reach' },
  async (t) => {
    const yard = await runningYard(t)
    chmodSync(yard.dataDir, 0o755)
    for (const command of ['status', 'down']) {
      const outcome = await yard.run([command], {}, nobody)
      assert.equal(outcome.code, 1, outcome.stderr)
      assert.match(
        outcome.stderr,
        /^yard: .* cannot be used by .*\(EACCES\): run \.\/yard as the user who started/m,
      )
      assert.doesNotMatch(outcome.stderr, /\n\s+at /, 'no stack')
    }
    assert.equal((await yard.run(['status'])).code, 0, 'and it runs on')
  },
)

test("a relative path of a secret's file is found by every process, wherever ./yard was typed", async (t) => {
  const yard = await testYard(t)
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'redis.url'), testRedisUrl())
  const environment = { REDIS_URL_FILE: 'redis.url' }
  succeeded(await yard.run(['up', '--detach'], environment, { cwd }))
  const status = succeeded(await yard.run(['status', '--json'], environment, { cwd }))
  assert.equal(partOf(JSON.parse(status), 'queue').state, 'redis')
})

test('what a slow reader of a pipe has not taken yet is not lost with the command that wrote it', async (t) => {
  const yard = await runningYard(t)
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} ${'x'.repeat(80)}`)
  await yard.run(['down'])
  // Lines enough for several pipes, within what is read of the end of a log.
  const kept = lines.slice(-10_000)
  writeFileSync(join(yard.dataDir, 'logs', 'api.log'), `${lines.join('\n')}\n`)
  const { code, stdout } = await yard.run(['logs', 'api', '-n', String(kept.length)])
  assert.equal(code, 0)
  assert.ok(
    stdout === `${kept.join('\n')}\n`,
    `${stdout.length} of ${kept.join('\n').length + 1} characters came`,
  )
})

test(
  'Ctrl-C and Ctrl-D at the question before a deletion do nothing and are no fault',
  { skip: !hasTerminal && 'needs script (util-linux)' },
  async (t) => {
    const yard = await testYard(t)
    for (const { keys, code } of [
      { keys: '\x03', code: 130 },
      { keys: '\x04', code: 1 },
    ]) {
      const terminal = spawn('script', [
        '-qec',
        `YARD_DATA_DIR='${yard.dataDir}' '${program}' down --delete-data`,
        '/dev/null',
      ])
      t.after(() => terminal.kill('SIGKILL'))
      const outcome = outcomeOf(terminal)
      let shown = ''
      terminal.stdout.on('data', (data) => (shown += String(data)))
      await waitUntil('the question', () => shown.includes('to go on: '))
      terminal.stdin.write(keys)
      assert.equal((await outcome).code, code, shown)
      assert.match(shown, /yard: Nothing was done/)
      assert.doesNotMatch(shown, /fault of Toolyard/)
    }
  },
)
