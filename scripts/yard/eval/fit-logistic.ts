export type Example = { features: readonly number[]; isTrue: boolean; weight: number }

const steps = 60
/** Keeps weights of features that say the same from growing against each other. */
const ridge: number = 1e-4

/** Weights, the intercept last, by Newton's method. */
export function fitLogistic(examples: readonly Example[]): number[] {
  const size = (examples[0]?.features.length ?? 0) + 1
  const total = examples.reduce((sum, { weight }) => sum + weight, 0)
  const weights = Array.from({ length: size }, () => 0)
  for (let step = 0; step < steps; step += 1) {
    const gradient = weights.map((weight, i) => (i === size - 1 ? 0 : -ridge * weight))
    const curvature = weights.map((_, i) => weights.map((__, j) => (i === j ? ridge : 0)))
    for (const { features, isTrue, weight } of examples) {
      const row = [...features, 1]
      const p = 1 / (1 + Math.exp(-row.reduce((sum, x, i) => sum + x * (weights[i] ?? 0), 0)))
      const share = weight / total
      for (const [i, x] of row.entries()) {
        gradient[i] = (gradient[i] ?? 0) + share * ((isTrue ? 1 : 0) - p) * x
        addScaled(curvature[i] ?? [], row, share * p * (1 - p) * x)
      }
    }
    const change = solve(curvature, gradient)
    for (const [i, by] of change.entries()) weights[i] = (weights[i] ?? 0) + by
    if (Math.max(...change.map((by) => Math.abs(by))) < 1e-9) break
  }
  return weights
}

function addScaled(to: number[], by: readonly number[], factor: number): void {
  for (const [i, value] of by.entries()) to[i] = (to[i] ?? 0) + factor * value
}

/** Gaussian elimination; the matrix is symmetric and, by the ridge, never singular. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, vector[i] ?? 0])
  for (const [i, pivot] of rows.entries()) {
    const lead = pivot[i] ?? 1
    for (const [j, row] of rows.entries()) {
      if (j === i) continue
      const factor = (row[i] ?? 0) / lead
      for (const [k, x] of pivot.entries()) row[k] = (row[k] ?? 0) - factor * x
    }
  }
  return rows.map((row, i) => (row.at(-1) ?? 0) / (row[i] ?? 1))
}
