import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { addressPort } from './address-port.ts'

/** What was seen of one start of a tool, by the times that the tool itself read from the machine's clock. */
export type Run = {
  invocation: string
  attempt: number
  startedAtMs: number
  /** It was certainly alive then; it tells so every 20 ms. */
  lastAliveAtMs: number
  effects: number
}

export type Witness = {
  port: number
  runs(): readonly Run[]
  close(): Promise<void>
}

/** Counts from outside what tools do: see witness.c. */
export async function openWitness(): Promise<Witness> {
  const runs: Run[] = []
  const server = createServer((socket) => {
    let run: Run | undefined
    const lines = createInterface({ input: socket })
    // A tool that is killed may leave its connection reset: what it has said until then counts. Both tell of it.
    for (const one of [socket, lines]) one.on('error', () => {})
    // Lines that are not answered need no place in the order of those that are.
    lines.on('line', (line) => {
      const words = line.split(' ')
      const atMs = Number(words.at(-1)) / 1e6
      if (words[0] === 'start') {
        run = {
          invocation: words[1] ?? '',
          attempt: Number(words[2]),
          startedAtMs: atMs,
          lastAliveAtMs: atMs,
          effects: 0,
        }
        runs.push(run)
      }
      if (run === undefined) return
      run.lastAliveAtMs = Math.max(run.lastAliveAtMs, atMs)
      if (words[0] === 'effect') run.effects += 1
      // Counted before the tool may go on.
      if (words[0] !== 'alive') socket.write('k')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: addressPort(server),
    runs: () => runs,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
