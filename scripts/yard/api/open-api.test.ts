import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { freePort } from '@toolyard/service/free-port'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { z } from 'zod'
import { Failure } from '../../services/terminal/failure.ts'
import { openApi, readAnswer } from './open-api.ts'

const failure = (message: RegExp) => (error: unknown) =>
  error instanceof Failure && message.test(error.message)

function keyFile(t: TestContext, text = 'yk_1_secret\n'): string {
  const file = join(temporaryFolder(t), 'key')
  writeFileSync(file, text)
  return file
}

const at = (port: number, adminKey: string) => ({ config: { host: '127.0.0.1', port }, paths: { adminKey } })

async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close())
  return port
}

test('where nothing listens it is said that Toolyard does not run, and how to start it', async (t) => {
  const api = openApi(at(await freePort(), keyFile(t)))
  await assert.rejects(api.call('/tools'), failure(/does not run at http:.*ECONNREFUSED.*\.\/yard up/))
})

test('a call carries the key, and waits when it is asked to', async (t) => {
  const seen: object[] = []
  const port = await serve(t, ({ url, method, headers }, response) => {
    seen.push({ url, method, authorization: headers.authorization, prefer: headers['prefer'] })
    response.end('{"ok":true}')
  })
  const api = openApi(at(port, keyFile(t)))
  assert.deepEqual(await api.call('/tools'), { ok: true })
  await api.call('/x', { method: 'POST', body: {}, wait: 2 })
  assert.deepEqual(seen, [
    { url: '/tools', method: 'GET', authorization: 'Bearer yk_1_secret', prefer: undefined },
    { url: '/x', method: 'POST', authorization: 'Bearer yk_1_secret', prefer: 'wait=2' },
  ])
})

test('a refusal is told with all its faults, and steers no terminal', async (t) => {
  const faults = [{ pointer: '/params/a', detail: 'is required\u001b[2J' }]
  const port = await serve(t, (_, response) => {
    response.statusCode = 422
    response.end(JSON.stringify({ code: 'invalid_params', detail: 'They do not fit\r', faults }))
  })
  await assert.rejects(
    openApi(at(port, keyFile(t))).call('/tools'),
    failure(/^They do not fit\\r\n {2}\/params\/a is required\\u\{1b\}\[2J$/),
  )
})

test('a key that is refused is named by its file, never by what it is', async (t) => {
  const port = await serve(t, (_, response) => {
    response.statusCode = 401
    response.end(JSON.stringify({ code: 'unauthenticated', detail: 'No such key' }))
  })
  const file = keyFile(t)
  await assert.rejects(openApi(at(port, file)).call('/tools'), (error: unknown) => {
    assert(error instanceof Failure)
    assert(error.message.includes(file) && !error.message.includes('secret'))
    return true
  })
})

test('another program on the port is not taken for Toolyard, and gets the key on to nobody', async (t) => {
  const calls: (string | undefined)[] = []
  const port = await serve(t, ({ url }, response) => {
    calls.push(url)
    if (url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end()
    else response.writeHead(404).end('<h1>nginx</h1>')
  })
  const api = openApi(at(port, keyFile(t)))
  await assert.rejects(api.call('/tools'), failure(/HTTP 404 and no problem document/))
  await assert.rejects(api.call('/moved'), Failure)
  assert.deepEqual(calls, ['/tools', '/moved'])
})

test('a file that holds no key is told before anything is sent', async (t) => {
  for (const text of ['', 'two words', 'a\nb: c', 'ü'])
    assert.throws(() => openApi(at(1, keyFile(t, text))), failure(/holds no key/))
  assert.throws(
    () => openApi(at(1, '/nowhere/admin.key')),
    failure(/There is no key in \/nowhere.*\.\/yard up/),
  )
  assert.throws(() => openApi(at(1, '/nowhere'), '/nowhere/else'), failure(/no file \/nowhere\/else/))
})

test('an answer of another release is told as that', () => {
  assert.equal(readAnswer(z.object({ a: z.int() }), { a: 1 }).a, 1)
  assert.throws(() => readAnswer(z.object({ a: z.int() }), { b: 1 }), failure(/this release/))
})
