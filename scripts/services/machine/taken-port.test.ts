import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freePort } from '@toolyard/service/free-port'
import { portHolder, whyPortIsTaken } from './taken-port.ts'

test('a port is free until somebody listens, and then it is known who', async (t) => {
  const port = await freePort()
  assert.equal(await whyPortIsTaken('127.0.0.1', port), undefined)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close())
  assert.equal(await whyPortIsTaken('127.0.0.1', port), 'EADDRINUSE')
  assert.match(portHolder(port) ?? '', new RegExp(`node.*\\(pid ${process.pid}\\)$`))
})

test('an address that is not of this machine is told apart from a taken port', async () => {
  assert.equal(await whyPortIsTaken('192.0.2.1', 8_080), 'EADDRNOTAVAIL')
})

test('nobody holds a port on which nobody listens', async () => {
  assert.equal(portHolder(await freePort()), undefined)
})
