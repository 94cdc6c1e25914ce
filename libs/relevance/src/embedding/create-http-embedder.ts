import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Embedder } from './embedder.ts'
import { EmbedderError } from './embedder.ts'

export type HttpEmbedderOptions = {
  /** Of the endpoint itself, as https://api.example.com/v1/embeddings */
  url: string
  model: string
  dimensions: number
  key?: string
  timeoutMs?: number
}

const textsMax = 64
const charsMax = 8_000
/** A number takes about 20 characters, and a batch has 64 vectors. */
const bytesPerNumber = 32
const bytesAround = 65_536

/** Any endpoint that speaks as OpenAI's does. What it answers is checked: it is not ours. */
export function createHttpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { model, dimensions } = options
  const { host, pathname } = new URL(options.url)
  const closing = new AbortController()
  return {
    // Two paths of one host may be two models, and one model gives vectors of as many dimensions as it is asked for.
    modelId: `${model}@${host}${pathname}#${dimensions}`,
    dimensions,
    atOnceMax: 8,
    async embed(texts) {
      const vectors: Float32Array[] = []
      for (let i = 0; i < texts.length; i += textsMax) {
        vectors.push(...(await embedBatch(texts.slice(i, i + textsMax), options, closing.signal)))
      }
      return vectors
    },
    async close() {
      closing.abort(new EmbedderError('the embedder is closed'))
      await Promise.resolve()
    },
  }
}

async function embedBatch(
  texts: readonly string[],
  { url, model, key, dimensions, timeoutMs = 10_000 }: HttpEmbedderOptions,
  closing: AbortSignal,
): Promise<Float32Array[]> {
  const input = texts.map((text) => (text.trim() === '' ? '.' : text.slice(0, charsMax)))
  const bytesMax = bytesAround + texts.length * dimensions * bytesPerNumber
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: 'float' }),
      // A redirect would carry the texts, and perhaps the key, to somebody else.
      redirect: 'error',
      signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
    })
    if (!response.ok) {
      await response.body?.cancel()
      const fault = isOfText(response.status) ? 'text' : 'embedder'
      throw new EmbedderError(`the embeddings endpoint answered ${response.status}`, { fault })
    }
    const answer: unknown = JSON.parse(await readBounded(response, bytesMax))
    return readVectors(answer, texts.length, dimensions)
  } catch (error) {
    if (error instanceof EmbedderError) throw error
    throw new EmbedderError('the embeddings endpoint could not be asked', { cause: error })
  }
}

/** Unauthorised, paid up, not found, too slow, too many: those are of every text. What else is refused is this one. */
const ofEveryText: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 408, 421, 425, 426, 429])
const isOfText = (status: number): boolean => status >= 400 && status < 500 && !ofEveryText.has(status)

async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<unknown> = response.body ?? Readable.from([])
  for await (const chunk of body) {
    assert.ok(chunk instanceof Uint8Array)
    size += chunk.length
    if (size > bytesMax)
      throw new EmbedderError(`the embeddings endpoint answered more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The order of `data` is not promised; `index` is. */
function readVectors(answer: unknown, count: number, dimensions: number): Float32Array[] {
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count })
  for (const item of arrayAt(answer, 'data')) {
    const index = memberOf(item, 'index')
    const values = arrayAt(item, 'embedding')
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
      throw new EmbedderError('the embeddings endpoint answered for a text that was not asked')
    if (values.length !== dimensions)
      throw new EmbedderError(
        `the embeddings endpoint answered ${values.length} dimensions, not ${dimensions}`,
      )
    vectors[index] = Float32Array.from(values, finiteNumber)
  }
  return vectors.map((vector) => {
    if (vector === undefined) throw new EmbedderError('the embeddings endpoint left out a text')
    return vector
  })
}

function finiteNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value
  throw new EmbedderError('the embeddings endpoint answered what are no numbers')
}

function arrayAt(value: unknown, name: string): unknown[] {
  const found: unknown = memberOf(value, name)
  if (!Array.isArray(found)) throw new EmbedderError(`the embeddings endpoint answered without "${name}"`)
  return Array.from<unknown>(found)
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
