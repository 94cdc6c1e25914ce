// What is done to rows beside multiplying them, in place: little of the time, so plain JavaScript.

export type Norm = { scale: Float32Array; bias: Float32Array }

const epsilon = 1e-6

/** Of each row, by mean and deviation of its own, to scale and bias that were learned. */
export function normalize({ scale, bias }: Norm, from: Float32Array, to: Float32Array, count: number): void {
  const size = scale.length
  for (let start = 0; start < count * size; start += size) {
    let sum = 0
    for (let i = start; i < start + size; i += 1) sum += from[i] ?? 0
    const mean = sum / size
    let squares = 0
    for (let i = start; i < start + size; i += 1) squares += ((from[i] ?? 0) - mean) ** 2
    const factor = 1 / Math.sqrt(squares / size + epsilon)
    for (let i = 0; i < size; i += 1)
      to[start + i] = ((from[start + i] ?? 0) - mean) * factor * (scale[i] ?? 0) + (bias[i] ?? 0)
  }
}

/** Of the values times the factor. */
export function softmax(values: Float32Array, factor: number): void {
  let highest = -Infinity
  for (const value of values) highest = Math.max(highest, value)
  let sum = 0
  for (let i = 0; i < values.length; i += 1) {
    const power = Math.exp(((values[i] ?? 0) - highest) * factor)
    values[i] = power
    sum += power
  }
  for (let i = 0; i < values.length; i += 1) values[i] = (values[i] ?? 0) / sum
}

export function rectify(values: Float32Array, count: number): void {
  for (let i = 0; i < count; i += 1) values[i] = Math.max(0, values[i] ?? 0)
}

export function addTo(to: Float32Array, from: Float32Array, count: number): void {
  for (let i = 0; i < count; i += 1) to[i] = (to[i] ?? 0) + (from[i] ?? 0)
}

/** The mean of the rows takes the place of the first of them. */
export function meanRow(values: Float32Array, size: number, count: number): void {
  for (let i = 0; i < size; i += 1) {
    let sum = 0
    for (let at = i; at < count * size; at += size) sum += values[at] ?? 0
    values[i] = sum / count
  }
}
