import { AppError } from '@toolyard/contract/errors'

type BodyReading = {
  /** For all of it. */
  arrivalMs: number
  /** Without a byte of it. */
  silenceMs: number
  /** Told how many bytes there are so far; the refusal that it throws ends the reading. */
  onBytes: (bytes: number) => void
}

/** The bytes of a body as they came, if they come in time; how many there may be is held elsewhere. */
export async function readRawBody(request: Request, reading: BodyReading): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0)
  const reader = request.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  let isLate = false
  const giveUp = () => {
    isLate = true
    stop()
  }
  const arrival = setTimeout(giveUp, reading.arrivalMs)
  const silence = setTimeout(giveUp, reading.silenceMs)
  try {
    const chunks = await readChunks(reader, (bytes) => {
      silence.refresh()
      reading.onBytes(bytes)
    })
    if (!isLate) return Buffer.concat(chunks)
  } catch (error) {
    stop()
    if (error instanceof AppError) throw error
    throw new AppError('malformed_request', 'The body could not be read to its end')
  } finally {
    clearTimeout(arrival)
    clearTimeout(silence)
  }
  throw new AppError('malformed_request', 'The body took too long to arrive')
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value)
    onBytes((bytes += read.value.byteLength))
  }
  return chunks
}
