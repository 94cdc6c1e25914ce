import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { commandLine, endProcess, hasEnded, identityOf, isAlive, sendSignal } from './process-identity.ts'

test('a process is known by its pid and start time', (t) => {
  const pid = start(t, 'setInterval(() => {}, 1000)').pid ?? 0
  const identity = identityOf(pid)
  assert.ok(identity)
  assert.equal(isAlive(identity), true)
  assert.equal(isAlive({ pid, startTime: '1' }), false)
})

test('a pid that belongs to somebody else by now gets no signal', (t) => {
  const child = start(t, 'setInterval(() => {}, 1000)')
  assert.equal(sendSignal({ pid: child.pid ?? 0, startTime: '1' }, 'SIGKILL'), false)
  assert.equal(child.killed, false)
  assert.ok(identityOf(child.pid ?? 0))
})

test('a zombie counts as gone', async (t) => {
  // The shell starts a child, says its pid and becomes a program that never reaps it.
  const shell = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => shell.kill('SIGKILL'))
  const pid = await new Promise<number>((resolve) =>
    shell.stdout.once('data', (data) => resolve(Number(String(data)))),
  )
  await waitUntil('the child is a zombie', () => identityOf(pid) === undefined)
  assert.doesNotThrow(() => process.kill(pid, 0), 'its entry is still in the table')
})

test('a process that ignores the polite signal is ended by the next', async (t) => {
  const child = start(t, "process.on('SIGTERM', () => {}); console.log('on'); setInterval(() => {}, 1000)")
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  const identity = identityOf(child.pid ?? 0)
  assert.ok(identity)
  const steps = [
    { signal: 'SIGTERM', graceMs: 100 },
    { signal: 'SIGKILL', graceMs: 5_000 },
  ] as const
  assert.equal(await endProcess(identity, steps), true)
  assert.equal(await hasEnded(identity, 0), true)
})

test('the command line of a process is a list, of none an empty one', () => {
  assert.equal(commandLine(process.pid)[0]?.includes('node'), true)
  assert.deepEqual(commandLine(4_194_303), [])
})

function start(t: TestContext, script: string): ChildProcess {
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  return child
}
