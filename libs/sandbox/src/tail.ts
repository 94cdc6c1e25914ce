/** Keeps the last `maxBytes` of what is added, in bounded memory. */
export function createTail(maxBytes: number): {
  add(chunk: Buffer): void
  /** Counts bytes that never came here. */
  skip(bytes: number): void
  read(): Buffer
  total(): number
} {
  let chunks: Buffer[] = []
  let heldBytes = 0
  let totalBytes = 0
  return {
    add(chunk) {
      totalBytes += chunk.length
      heldBytes += chunk.length
      chunks.push(chunk)
      // Joined only now and then, so that many small chunks cost little; copied, so that no large buffer is held by it.
      if (heldBytes > 4 * maxBytes) {
        chunks = [Buffer.from(Buffer.concat(chunks).subarray(-maxBytes))]
        heldBytes = maxBytes
      }
    },
    skip(bytes) {
      totalBytes += bytes
    },
    read: () => Buffer.concat(chunks).subarray(-maxBytes),
    total: () => totalBytes,
  }
}
