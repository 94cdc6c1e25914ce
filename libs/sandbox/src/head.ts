const firstBytes = 4_096

/** Keeps the first `maxBytes` of what is added. What it holds depends on the bytes, not on how small they come. */
export function createHead(maxBytes: number): {
  add(chunk: Buffer): void
  read(): Buffer
  /** Kept or not. */
  total(): number
} {
  let held = Buffer.alloc(0)
  let keptBytes = 0
  let totalBytes = 0
  return {
    add(chunk) {
      totalBytes += chunk.length
      const neededBytes = Math.min(maxBytes, keptBytes + chunk.length)
      if (neededBytes > held.length) {
        const grown = Buffer.alloc(Math.min(maxBytes, Math.max(neededBytes, 2 * held.length, firstBytes)))
        held.copy(grown, 0, 0, keptBytes)
        held = grown
      }
      chunk.copy(held, keptBytes, 0, neededBytes - keptBytes)
      keptBytes = neededBytes
    },
    read: () => Buffer.from(held.subarray(0, keptBytes)),
    total: () => totalBytes,
  }
}
