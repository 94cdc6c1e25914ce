import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '@toolyard/service/free-port'
import { becomes } from '../services/machine/becomes.ts'
import { Failure } from '../services/terminal/failure.ts'
import { findProgram } from '../services/machine/find-program.ts'
import { pingRedis } from '../services/redis/redis.ts'
import { openLogDescriptor } from '../services/logs/rotating-log.ts'

/** A Redis that keeps nothing and stays at its address through restarts. */
export type RedisServer = {
  url: string
  restart(): Promise<void>
  flush(): Promise<void>
  close(): Promise<void>
}

const startTimeoutMs = 10_000

export async function openRedisServer(folder: string): Promise<RedisServer> {
  const found = findProgram('redis-server')
  if (found === undefined) throw new Failure('There is no redis-server: ./yard test installs one')
  const program = found
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  mkdirSync(folder, { recursive: true })
  let child = launch()
  await answer()

  function launch() {
    const output = openLogDescriptor(join(folder, 'redis.log'))
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    const server = spawn(program, args, { detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    return server
  }

  async function answer(): Promise<void> {
    if (!(await becomes(async () => (await pingRedis(url)) === 'PONG', startTimeoutMs)))
      throw new Failure(`Redis does not start: see ${folder}`)
  }

  async function end(): Promise<void> {
    const ended = once(child, 'exit')
    // Nothing is saved, whatever it is asked politely.
    if (child.kill('SIGKILL')) await ended
  }

  return {
    url,
    async restart() {
      await end()
      child = launch()
      await answer()
    },
    async flush() {
      const socket = connect({ host: '127.0.0.1', port })
      socket.write('FLUSHALL\r\n')
      const said: unknown[] = await once(socket, 'data')
      socket.destroy()
      if (!String(said[0]).startsWith('+OK'))
        throw new Error(`Redis answered FLUSHALL with ${String(said[0])}`)
    },
    close: end,
  }
}
