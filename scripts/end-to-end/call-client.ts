import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Calls tools over connections that stay open. */
export type CallClient = {
  /** Answers when the invocation has ended. */
  run(tool: string): Promise<void>
  /** Answers when it is accepted. */
  submit(tool: string): Promise<void>
  close(): void
}

const connectionsMax = 64
const waitSeconds = 30
const body = JSON.stringify({ params: {}, topic: 'bench' })

// node:http and not fetch: on two cores the caller's own work is part of what is measured, and this costs half.
export function createCallClient(url: string, token: string): CallClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }

  async function call(tool: string, wanted: number, more: Record<string, string>): Promise<void> {
    const asked = request(`${url}/tools/${tool}/invoke`, {
      method: 'POST',
      agent,
      headers: { ...headers, ...more },
    })
    asked.end(body)
    // safe because that is what the event gives
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const said = await text(answer)
    if (answer.statusCode !== wanted) throw new Error(`${tool} was answered ${answer.statusCode}: ${said}`)
  }

  return {
    async run(tool) {
      await call(tool, 200, { prefer: `wait=${waitSeconds}` })
    },
    submit: (tool) => call(tool, 202, {}),
    close: () => agent.destroy(),
  }
}
