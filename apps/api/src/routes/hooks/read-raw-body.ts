import { AppError } from '@toolyard/contract/errors'

/** The bytes of a body as they came, if they come in time; how many there may be is held elsewhere. */
export async function readRawBody(request: Request, arrivalMs: number): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0)
  const reader = request.body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, arrivalMs)
  try {
    const chunks = await readChunks(reader)
    if (!isLate) return Buffer.concat(chunks)
  } catch {
    throw new AppError('malformed_request', 'The body could not be read to its end')
  } finally {
    clearTimeout(timer)
  }
  throw new AppError('malformed_request', 'The body took too long to arrive')
}

async function readChunks(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value)
  return chunks
}
