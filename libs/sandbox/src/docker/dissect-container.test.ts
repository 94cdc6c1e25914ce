import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { answer, fakeEngine } from '../fixtures/fake-engine.ts'
import { dissectContainer } from './dissect-container.ts'

// The engine never says that the container has ended: each of these is killed, and how that went decides.
const engineThat = (killing: { status: number; message: string }, inspecting: object): RequestListener => {
  return (request, response) => {
    const call = request.url?.split(/[/?]/)[3]
    if (call === 'kill') answer(response, killing.status, { message: killing.message })
    if (call === 'json') answer(response, 200, { State: inspecting })
  }
}
const ended = { Running: false, ExitCode: 76, OOMKilled: false }

test('what ended by itself just before it was killed is dead of what it died of', async (t) => {
  const late = engineThat({ status: 409, message: 'Cannot kill container: x is not running' }, ended)
  const autopsy = await dissectContainer(await fakeEngine(t, late), 'x')
  assert.deepEqual(autopsy, { kind: 'dead', code: 76, isOutOfMemory: false })
})

test('what could not be killed is not known to be dead', async (t) => {
  const broken = engineThat({ status: 500, message: 'permission denied' }, ended)
  const autopsy = await dissectContainer(await fakeEngine(t, broken), 'x')
  assert.deepEqual(autopsy, { kind: 'unknown', detail: 'permission denied' })
})
