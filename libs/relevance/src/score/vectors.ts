/** What vectors of another length are not: comparable. A bug of the caller, who mixed two models. */
function assertSameLength(a: Float32Array, b: Float32Array): void {
  if (a.length !== b.length) throw new RangeError(`vectors of ${a.length} and of ${b.length} dimensions`)
}

export function dot(a: Float32Array, b: Float32Array): number {
  assertSameLength(a, b)
  // Four sums at once, since each addition waits for the one before it: this is where a search spends its time.
  let [s0, s1, s2, s3] = [0, 0, 0, 0]
  const whole = a.length - (a.length % 4)
  for (let i = 0; i < whole; i += 4) {
    s0 += (a[i] ?? 0) * (b[i] ?? 0)
    s1 += (a[i + 1] ?? 0) * (b[i + 1] ?? 0)
    s2 += (a[i + 2] ?? 0) * (b[i + 2] ?? 0)
    s3 += (a[i + 3] ?? 0) * (b[i + 3] ?? 0)
  }
  for (let i = whole; i < a.length; i += 1) s0 += (a[i] ?? 0) * (b[i] ?? 0)
  return s0 + s1 + s2 + s3
}

/** What of a length is left by rounding: whatever has length 1 stays as it is, to the last bit. */
const roundingMax = 1e-6

/** Of length 1; one without any length comes back as it is: it is like nothing. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector))
  if (length === 0 || Math.abs(length - 1) < roundingMax) return vector
  const scaled = new Float32Array(vector.length)
  for (let i = 0; i < vector.length; i += 1) scaled[i] = (vector[i] ?? 0) / length
  return scaled
}

/** a + factor × b */
export function addScaled(a: Float32Array, b: Float32Array, factor: number): Float32Array {
  const sum = a.slice()
  addTo(sum, b, factor)
  return sum
}

/** The same, into what is already there. Loops, for `map` takes ten times as long, and lessons are many. */
export function addTo(sum: Float32Array, b: Float32Array, factor: number): void {
  assertSameLength(sum, b)
  for (let i = 0; i < b.length; i += 1) sum[i] = (sum[i] ?? 0) + factor * (b[i] ?? 0)
}

export function meanVector(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (const vector of vectors) {
    assertSameLength(sum, vector)
    for (let i = 0; i < dimensions; i += 1) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0) / vectors.length
  }
  return sum
}
