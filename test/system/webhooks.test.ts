import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { z } from 'zod'
import { freePort } from '@toolyard/testkit/free-port'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { succeeded, testYard } from '../fixtures/yard.ts'
import { callsOf } from './fixtures/calls-of.ts'
import { killProcess } from './fixtures/kill-process.ts'
import { shellTool, writeTool } from './fixtures/write-tool.ts'

type Message = { id: string; invocation: string; answer: ServerResponse }

/** Remembers what comes and answers nothing: whoever waits for it does. */
async function holdMessages(t: TestContext, port: number): Promise<Message[]> {
  const held: Message[] = []
  const hold = async (request: IncomingMessage, answer: ServerResponse) => {
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await json(request))
    held.push({ id: String(request.headers['webhook-id']), invocation: data.id, answer })
  }
  const server = createServer((request, answer) => void hold(request, answer))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return held
}

test('what is told of an end survives the death of all who could tell it, before it is sent and while it is', async (t) => {
  const port = await freePort()
  const yard = await testYard(t, {
    YARD_WEBHOOK_ALLOW_HTTP: 'yes',
    YARD_WEBHOOK_ALLOW: '127.0.0.1',
    YARD_WEBHOOK_PORTS: String(port),
  })
  writeTool(yard.toolDir, 'greeting', shellTool(`echo '{"text":"hello"}'\n`))
  succeeded(await yard.run(['up', '--detach']))
  const call = callsOf(yard)
  const held = await holdMessages(t, port)
  const { id: webhook } = await call('POST', '/webhooks', {
    url: `http://127.0.0.1:${port}/`,
    events: ['invocation.finished'],
  })
  const kill = (...apps: string[]) => {
    for (const app of apps) killProcess(yard, new RegExp(`apps/${app}/src/main\\.ts`))
  }
  const untilAlive = () => waitUntil('all of it again', async () => (await yard.status()).ready, 120_000)

  const { id: ran } = await call('POST', '/tools/greeting/invoke', {})
  const first = await waitUntil('the message of a call', () => held[0], 120_000)
  assert.equal(first.invocation, ran)
  kill('worker', 'scheduler', 'api')
  await untilAlive()
  const again = await waitUntil('the same message', () => held[1], 120_000)
  assert.deepEqual([again.id, again.invocation], [first.id, ran])
  again.answer.writeHead(204).end()

  // Ended by the api alone, while nobody is there to send anything.
  const { id: cancelled } = await call('POST', '/tools/greeting/invoke', { delay_ms: 3_600_000 })
  kill('worker')
  assert.equal((await call('POST', `/invocations/${cancelled}/cancel`)).status, 'cancelled')
  kill('scheduler', 'api')
  await untilAlive()
  const late = await waitUntil('the message of its cancelling', () => held[2], 120_000)
  assert.equal(late.invocation, cancelled)
  late.answer.writeHead(204).end()

  const delivered = await waitUntil('both to be delivered', async () => {
    const { deliveries } = await call('GET', `/webhooks/${webhook}/deliveries`)
    const done = deliveries.filter(({ status }: { status: string }) => status === 'delivered')
    return done.length === 2 ? done : undefined
  })
  assert.deepEqual(
    delivered.map((one: { id: string; invocation_id: string }) => [one.id, one.invocation_id]),
    [
      [late.id, cancelled],
      [first.id, ran],
    ],
  )
  assert.equal(held.length, 3, 'nothing came that was answered')
})
