import { parentPort } from 'node:worker_threads'
import { createSentenceEncoder } from './create-sentence-encoder.ts'

// The thread behind createLocalEmbedder. One text at a time: together they would be no faster, and so a query waits for one
// text of a refresh at most.

type Request = { id: number; text: string }

const port = parentPort
if (port === null) throw new Error('runs as a worker thread only')
let encoder: Awaited<ReturnType<typeof createSentenceEncoder>> | null = null
let last = Promise.resolve()

port.on('message', (request: Request) => {
  last = last.then(() => answer(request))
})

async function answer({ id, text }: Request): Promise<void> {
  try {
    // Kept only when it is there: what failed once, as for want of a file descriptor, is tried again.
    encoder ??= await createSentenceEncoder()
    const vector = encoder(text)
    port?.postMessage({ id, vector }, [vector.buffer])
  } catch (error) {
    port?.postMessage({ id, error: String(error), isLoaded: encoder !== null })
  }
}
