/** As they lie in memory, one after the other. */
export function toBytes(vectors: readonly Float32Array[]): Buffer {
  return Buffer.concat(
    vectors.map((vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
  )
}

/** None where the bytes are not of vectors of so many dimensions. */
export function toVectors(bytes: Buffer, dimensions: number): Float32Array[] {
  const size = dimensions * Float32Array.BYTES_PER_ELEMENT
  if (bytes.byteLength % size !== 0) return []
  return Array.from({ length: bytes.byteLength / size }, (_, index) => {
    // Copied: bytes that come from elsewhere need not lie where floats may.
    const own = new Uint8Array(bytes.subarray(index * size, (index + 1) * size))
    return new Float32Array(own.buffer)
  })
}
