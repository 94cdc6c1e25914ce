import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { freePort } from '@toolyard/service/free-port'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { openApi } from '../api/open-api.ts'
import { followInvocation } from './follow-invocation.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const at = '2026-01-01T00:00:00.000Z'
const shape = (status: string) => ({
  id: 'inv_1',
  tool: 'greet',
  tool_version: '1.0',
  image_hash: 'ab',
  topic: 't',
  status,
  attempts: 1,
  created_at: at,
  started_at: null,
  finished_at: null,
  queue_ms: null,
  duration_ms: null,
  reward: null,
  metadata: null,
  links: { self: '', events: '', cancel: '', replay: '', feedback: '' },
})

/** A server that answers each connection for events as the next of these says, and the invocation as it stands. */
async function open(t: TestContext, answers: Answer[], status = () => 'succeeded') {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/invocations/inv_1/events') {
      response.end(JSON.stringify(shape(status())))
      return
    }
    asked.push(request.headers['last-event-id']?.toString())
    const answer = answers[asked.length - 1] ?? answers.at(-1)
    answer?.(response, request)
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const folder = temporaryFolder(t)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const adminKey = join(folder, 'key')
  writeFileSync(adminKey, 'yk_1_secret')
  const told: string[] = []
  const controller = new AbortController()
  const follow = (patienceMs = 5_000) =>
    followInvocation(
      openApi({ config: { host: '127.0.0.1', port }, paths: { adminKey } }),
      { id: 'inv_1', signal: controller.signal, pauseMs: 5, patienceMs },
      {
        status: ({ status: now, attempts }) => told.push(`${now} ${attempts}`),
        stderr: ({ text }) => told.push(text),
        lost: () => told.push('lost'),
      },
    )
  return { follow, told, asked, abort: () => controller.abort() }
}

const frame = (id: number, status: string) =>
  `id: ${id}\nevent: status\ndata: ${JSON.stringify({ status, attempts: 1 })}\n\n`

const refuse =
  (code: number): Answer =>
  (response) => {
    response.statusCode = code
    response.end(JSON.stringify({ code: 'x', detail: 'not now' }))
  }

test('a stream that breaks, is refused for a while or ends too early goes on after its last event', async (t) => {
  let status = 'running'
  const answers: Answer[] = [
    (response) => {
      response.write(frame(2, 'running'))
      response.write('event: stderr\ndata: {"attempt":1,"text":"x"}\n\n', () => response.destroy())
    },
    refuse(503),
    (response) => response.end(': still there\n\n'),
    (response) => {
      status = 'succeeded'
      response.end(`event: later\ndata: ?\n\n${frame(5, 'succeeded')}`)
    },
  ]
  const { follow, told, asked } = await open(t, answers, () => status)
  const { invocation } = await follow()
  assert.equal(invocation.status, 'succeeded')
  assert.deepEqual(told, ['running 1', 'x', 'lost', 'lost', 'succeeded 1'])
  assert.deepEqual(asked, [undefined, '2', '2', '2'])
})

test('what is final needs no event', async (t) => {
  const { follow, told } = await open(t, [
    (response) => {
      response.statusCode = 204
      response.end()
    },
  ])
  assert.equal((await follow()).invocation.status, 'succeeded')
  assert.deepEqual(told, [])
})

test('who may not follow is told so at once, and patience ends', async (t) => {
  const refused = await open(t, [refuse(404)])
  await assert.rejects(refused.follow(), /not now/)
  assert.equal(refused.asked.length, 1)
  const busy = await open(t, [refuse(503)])
  await assert.rejects(busy.follow(), /not now/)
  assert.equal(busy.asked.length, 1)
  const gone = await open(t, [(response) => response.end(frame(0, 'queued')), refuse(503)], () => 'queued')
  await assert.rejects(gone.follow(50), /not now/)
  assert.ok(gone.asked.length > 2)
})

test('who breaks off ends the watching and closes the connection', async (t) => {
  let isClosed = false
  const { follow, told, abort } = await open(t, [
    (response) => {
      response.once('close', () => (isClosed = true))
      response.write(frame(0, 'queued'))
    },
  ])
  const following = follow()
  await waitUntil('the first event', () => told.length > 0)
  abort()
  await assert.rejects(following, { name: 'AbortError' })
  await waitUntil('the connection to close', () => isClosed)
})
