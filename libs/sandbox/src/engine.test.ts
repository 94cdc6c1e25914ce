import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { testDockerHost } from '@toolyard/testkit/environment'
import { probeEngine } from './engine.ts'

const execute = promisify(execFile)

test('an engine that is there says who it is', async () => {
  const answer = await probeEngine(testDockerHost())
  assert.equal(answer.state, 'ready')
  assert.match(answer.id, /.{12,}/)
  assert.match(answer.apiVersion, /^1\.\d+$/)
  assert.match(answer.version, /^\d+\./)
})

test('no socket, no listener and no such scheme are answers, not errors', async () => {
  assert.deepEqual(await probeEngine('unix:///nonexistent/docker.sock'), {
    state: 'absent',
    detail: 'ENOENT',
  })
  assert.deepEqual(await probeEngine('tcp://127.0.0.1:1'), { state: 'absent', detail: 'ECONNREFUSED' })
  assert.equal((await probeEngine('not a url')).state, 'absent')
})

test('an engine that accepts and says nothing is given up after the timeout', async (t) => {
  const port = await listening(t, createServer())
  const answer = await probeEngine(`tcp://127.0.0.1:${port}`, 200)
  assert.deepEqual(answer, { state: 'absent', detail: 'did not answer within 200 ms' })
})

test('an engine of an older API is told apart from none', async (t) => {
  const port = await listening(t, fakeEngine('1.40'))
  assert.deepEqual(await probeEngine(`tcp://127.0.0.1:${port}`), {
    state: 'too_old',
    apiVersion: '1.40',
    detail: 'speaks API 1.40, 1.41 or newer is needed',
  })
})

test('API 1.100 is newer than 1.41', async (t) => {
  const port = await listening(t, fakeEngine('1.100'))
  assert.equal((await probeEngine(`tcp://127.0.0.1:${port}`)).state, 'ready')
})

test('a web server that is no engine is not taken for one', async (t) => {
  const port = await listening(
    t,
    answering((_request, response) => response.end('<html>welcome</html>')),
  )
  assert.equal((await probeEngine(`tcp://127.0.0.1:${port}`)).state, 'absent')
})

test('DOCKER_HOST in the environment does not turn a named engine into another', async (t) => {
  const nowhere = 'unix:///nonexistent/docker.sock'
  const fake = `tcp://127.0.0.1:${await listening(t, fakeEngine('1.41'))}`
  assert.equal(await probedIn({ DOCKER_HOST: fake }, nowhere), 'absent')
  assert.equal(await probedIn({ DOCKER_HOST: nowhere }, fake), 'ready')
})

/** The state that a process with this environment finds. */
async function probedIn(env: Record<string, string>, dockerHost: string): Promise<string> {
  const script = `
    import { probeEngine } from ${JSON.stringify(import.meta.resolve('./engine.ts'))}
    const { state } = await probeEngine(${JSON.stringify(dockerHost)})
    process.stdout.write(state)`
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', script], { env })
  return stdout
}

function fakeEngine(apiVersion: string): Server {
  return answering((request, response) => {
    const body = request.url?.endsWith('/info')
      ? { ID: 'fake', ServerVersion: '1.2.3' }
      : { ApiVersion: apiVersion }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
}

const answering = (listener: RequestListener): Server => createHttpServer(listener)

async function listening(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
      server.closeAllConnections()
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
