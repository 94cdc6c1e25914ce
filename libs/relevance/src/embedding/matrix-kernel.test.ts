import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMatrixKernel, fillPanels } from './matrix-kernel.ts'

/** Whole numbers, so that every sum is exact. */
const numberAt = (seed: number, i: number) => ((seed * 31 + i * 17) % 13) - 6

const shapes = [
  [1, 8],
  [7, 16],
  [64, 24],
].flatMap(([depth = 0, columns = 0]) =>
  Array.from({ length: 12 }, (_, i) => ({ rows: i + 1, depth, columns })),
)

for (const { rows, depth, columns } of shapes)
  test(`a product of ${rows}×${depth} and ${depth}×${columns} is right, and nothing beside it is touched`, () => {
    const kernel = createMatrixKernel(20_000)
    const [leftStride, outStride] = [depth + 3, columns + 5]
    const left = kernel.take(rows * leftStride).map((_, i) => numberAt(rows, i))
    const placed = kernel.take(left.length)
    placed.set(left)
    const factor = Float32Array.from({ length: depth * columns }, (_, i) => numberAt(depth, i))
    const panels = kernel.takePanels(depth, columns)
    fillPanels(panels, factor, columns, 1)
    const out = kernel.take(rows * outStride).fill(0.5)
    kernel.multiply({ values: placed, stride: leftStride }, panels, { values: out, stride: outStride }, rows)
    const expected = Array.from({ length: rows * outStride }, (_, at) => {
      const [row, column] = [Math.floor(at / outStride), at % outStride]
      const product = (d: number) =>
        (left[row * leftStride + d] ?? NaN) * (factor[d * columns + column] ?? NaN)
      const sum = Array.from({ length: depth }, (__, d) => product(d)).reduce((total, one) => total + one, 0)
      return column < columns ? sum : 0.5
    })
    assert.deepEqual(Array.from(out), expected)
  })

test('a factor can be turned while it is packed', () => {
  const { takePanels } = createMatrixKernel(1_000)
  const panels = takePanels(3, 8)
  const source = Float32Array.from({ length: 24 }, (_, i) => i)
  fillPanels(panels, source, 1, 3)
  assert.deepEqual(Array.from(panels.values.slice(0, 10)), [0, 3, 6, 9, 12, 15, 18, 21, 1, 4])
})

test('what would read or write beyond a matrix is refused, and so is more than the memory holds', () => {
  const kernel = createMatrixKernel(20_000)
  const panels = kernel.takePanels(16, 8)
  const left = { values: kernel.take(2 * 16), stride: 16 }
  const out = { values: kernel.take(2 * 8), stride: 8 }
  kernel.multiply(left, panels, out, 2)
  assert.throws(() => kernel.multiply(left, panels, { ...out, values: kernel.take(24) }, 3), /left factor/)
  assert.throws(() => kernel.multiply({ ...left, values: kernel.take(48) }, panels, out, 3), /no room/)
  assert.throws(() => kernel.take(100_000), RangeError)
})
