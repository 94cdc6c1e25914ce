import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createHttpEmbedder } from './create-http-embedder.ts'
import { EmbedderError } from './embedder.ts'

type Asked = { input: string[]; model: string }
type Answer = (request: Asked, response: ServerResponse, message: IncomingMessage) => void

const json = (response: ServerResponse, value: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

const vectorsOf = ({ input }: Asked) =>
  input.map((text, index) => ({ index, embedding: [text.length, 1, 0] }))

async function start(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    // safe because the embedder under test is the only one who asks
    message.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()) as Asked, response, message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // safe because it listens on a port, not on a pipe
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`
}

const options = { model: 'small', dimensions: 3, timeoutMs: 5_000 }

test('vectors come back in the order of the texts, whatever order they are answered in', async (t) => {
  const seen: (string | undefined)[] = []
  const url = await start(t, (request, response, message) => {
    seen.push(message.headers.authorization, request.model)
    json(response, { data: vectorsOf(request).toReversed() })
  })
  const embedder = createHttpEmbedder({ ...options, url, key: 'k1' })
  const vectors = await embedder.embed(['a', 'bb', 'ccc'])
  assert.deepEqual(
    vectors.map((vector) => vector[0]),
    [1, 2, 3],
  )
  assert.deepEqual(seen, ['Bearer k1', 'small'])
  await embedder.close()
})

test('many texts go in several requests, and an empty one is still a text', async (t) => {
  const sizes: number[] = []
  const url = await start(t, (request, response) => {
    sizes.push(request.input.length)
    assert.ok(request.input.every((text) => text !== ''))
    json(response, { data: vectorsOf(request) })
  })
  const vectors = await createHttpEmbedder({ ...options, url }).embed(Array.from({ length: 130 }, () => ''))
  assert.equal(vectors.length, 130)
  assert.deepEqual(sizes, [64, 64, 2])
})

const misbehaviours: Record<string, [Answer, RegExp]> = {
  'an error': [(_, response) => response.writeHead(500).end('secret detail'), /answered 500$/],
  'no JSON': [(_, response) => response.end('<html>'), /could not be asked/],
  'no data': [(_, response) => json(response, { error: 'no' }), /without "data"/],
  null: [(_, response) => json(response, null), /without "data"/],
  'too few': [(request, response) => json(response, { data: vectorsOf(request).slice(1) }), /left out/],
  'other dimensions': [
    (_, response) => json(response, { data: [{ index: 0, embedding: [1, 2] }] }),
    /2 dimensions, not 3/,
  ],
  'no numbers': [
    (_, response) => json(response, { data: [{ index: 0, embedding: [1, null, 'x'] }] }),
    /no numbers/,
  ],
  'a text that was not asked': [
    (_, response) => json(response, { data: [{ index: 7, embedding: [1, 2, 3] }] }),
    /not asked/,
  ],
  'without end': [
    (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    },
    /answered more than/,
  ],
  'a redirect': [
    (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    /could not be asked/,
  ],
  'a broken connection': [(_, response) => response.destroy(), /could not be asked/],
}

test('who refuses a text is told from who answers nobody', async (t) => {
  const faultOf = async (status: number) => {
    const url = await start(t, (_, response) => response.writeHead(status).end('{}'))
    const error: unknown = await createHttpEmbedder({ ...options, url })
      .embed(['a'])
      .catch((thrown: unknown) => thrown)
    assert.ok(error instanceof EmbedderError)
    return error.fault
  }
  for (const status of [400, 413, 422]) assert.equal(await faultOf(status), 'text', `${status}`)
  for (const status of [401, 403, 404, 408, 429, 500, 503])
    assert.equal(await faultOf(status), 'embedder', `${status}`)
})

test('whatever makes vectors others is part of the name of the model', () => {
  const idOf = (url: string, dimensions: number) =>
    createHttpEmbedder({ model: 'm', url, dimensions }).modelId
  const ids = [
    idOf('https://a.example/v1/embeddings', 512),
    idOf('https://a.example/v1/embeddings', 256),
    idOf('https://a.example/other/embeddings', 512),
    idOf('https://b.example/v1/embeddings', 512),
  ]
  assert.equal(new Set(ids).size, 4)
  assert.equal(idOf('https://a.example/v1/embeddings?key=secret', 512), ids[0])
})

for (const [name, [answer, message]] of Object.entries(misbehaviours))
  test(`an endpoint that answers ${name} is an EmbedderError`, async (t) => {
    const url = await start(t, answer)
    await assert.rejects(createHttpEmbedder({ ...options, url }).embed(['a', 'b']), (error: unknown) => {
      assert.ok(error instanceof EmbedderError)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })

test('an endpoint that never answers is given up after the timeout, and at the close', async (t) => {
  const asked = Promise.withResolvers<void>()
  const url = await start(t, () => asked.resolve())
  await assert.rejects(createHttpEmbedder({ ...options, url, timeoutMs: 50 }).embed(['a']), EmbedderError)
  const embedder = createHttpEmbedder({ ...options, url, timeoutMs: 60_000 })
  const waiting = assert.rejects(embedder.embed(['a']), EmbedderError)
  await asked.promise
  await embedder.close()
  await waiting
})
