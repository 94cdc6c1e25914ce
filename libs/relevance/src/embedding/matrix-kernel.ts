import assert from 'node:assert/strict'

// Products of matrices of 32-bit floats. JavaScript has no SIMD, WebAssembly has: one inner loop, assembled here byte by
// byte, makes up to five rows by eight columns of a product, all kept in registers: 22 billion multiplications a second and
// core, where JavaScript does one or two and TensorFlow.js ten.

/** Row by row, with the distance from one row to the next. */
export type Rows = { values: Float32Array; stride: number }

/** The right factor, in panels of eight columns that follow each other; `columns` is a multiple of eight. */
export type Panels = { values: Float32Array; depth: number; columns: number }

export const panelColumns = 8
const tileRowsMax = 5
const floatBytes = 4
const pageBytes = 65_536
const cacheLineBytes = 64

/** Takes the places of the left factor, of a panel and of the product, with the distances between rows, and the depth. */
type Tile = (...numbers: readonly number[]) => void

// Node has it, but neither its types nor those of the language say so.
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> }
}
type Memory = InstanceType<typeof WebAssembly.Memory>

export type MatrixKernel = ReturnType<typeof createMatrixKernel>

/** All that is multiplied lies in its memory, which has room for so many floats. */
export function createMatrixKernel(floatCount: number) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((floatCount * floatBytes) / pageBytes) })
  const tiles = instantiate(memory)
  let taken = 0

  const take = (count: number): Float32Array => {
    const values = new Float32Array(memory.buffer, taken, count)
    taken += Math.ceil((count * floatBytes) / cacheLineBytes) * cacheLineBytes
    return values
  }

  return {
    take,
    takePanels: (depth: number, columns: number): Panels => ({
      values: take(depth * columns),
      depth,
      columns,
    }),
    /** out = a × b, for so many rows. */
    multiply(a: Rows, b: Panels, out: Rows, rowCount: number): void {
      assert.ok(a.values.length >= (rowCount - 1) * a.stride + b.depth, 'the left factor is too small')
      assert.ok(out.values.length >= (rowCount - 1) * out.stride + b.columns, 'the product has no room')
      const [from, to] = [a.values.byteOffset, out.values.byteOffset]
      const [fromStride, toStride] = [a.stride * floatBytes, out.stride * floatBytes]
      for (let column = 0; column < b.columns; column += panelColumns) {
        const panel = b.values.byteOffset + column * b.depth * floatBytes
        for (let row = 0; row < rowCount; row += tileRowsMax) {
          const tile = tiles[Math.min(tileRowsMax, rowCount - row) - 1]
          const corner = to + row * toStride + column * floatBytes
          tile?.(from + row * fromStride, fromStride, panel, corner, toStride, b.depth)
        }
      }
    },
  }
}

/** Element (row, column) of the source is at row × rowStride + column × columnStride, so it can be turned on the way. */
export function fillPanels(to: Panels, from: Float32Array, rowStride: number, columnStride: number): void {
  let at = 0
  for (let first = 0; first < to.columns; first += panelColumns)
    for (let row = 0; row < to.depth; row += 1)
      for (let column = first; column < first + panelColumns; column += 1) {
        to.values[at] = from[row * rowStride + column * columnStride] ?? 0
        at += 1
      }
}

function instantiate(memory: Memory): Tile[] {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()), { js: { memory } })
  // safe because the module is the one assembled below
  return Array.from({ length: tileRowsMax }, (_, i) => exports[String(i + 1)] as Tile)
}

type Code = readonly (number | readonly number[])[]
const join = (...code: Code): number[] => code.flat()

/** LEB128, of what is not negative; a signed one needs the bit of 64 for its sign. */
const integer = (value: number, limit: number): number[] =>
  value < limit ? [value] : [(value % 128) + 128, ...integer(Math.floor(value / 128), limit)]
const unsigned = (value: number) => integer(value, 128)
const signed = (value: number) => integer(value, 64)

const i32 = 0x7f
const v128 = 0x7b
const localGet = 0x20
const localSet = 0x21
const localTee = 0x22
const i32Const = 0x41
const i32Add = 0x6a
const i32Subtract = 0x6b
const loop = [0x03, 0x40]
const branchIf = 0x0d
const end = 0x0b
const simd = (code: number) => [0xfd, ...unsigned(code)]
const load = (local: number, bytes: number) => join(localGet, local, simd(0x00), 4, bytes)
const loadSplat = (local: number) => join(localGet, local, simd(0x09), 2, 0)
const store = (bytes: number) => join(simd(0x0b), 4, bytes)
/** Relaxed: whether it rounds between the two is left to the processor, so the last bits may differ from one to another. */
const multiplyAdd = simd(0x105)

/** out[row][0..7] = the sum over the depth of a[row][d] × b[d][0..7]; the parameters are those of Tile. */
function tileBody(rowCount: number): number[] {
  const [a, aStride, b, out, outStride, depth] = [0, 1, 2, 3, 4, 5]
  const pointer = (row: number) => 6 + row
  const sum = (row: number, half: number) => 6 + rowCount + 2 * row + half
  const factor = (half: number) => 6 + 3 * rowCount + half
  const element = 6 + 3 * rowCount + 2
  const eachRow = (code: (row: number) => number[]) =>
    Array.from({ length: rowCount }, (_, row) => code(row)).flat()
  const advance = (local: number, by: number) =>
    join(localGet, local, i32Const, signed(by), i32Add, localSet, local)
  const below = (local: number, stride: number) => [localGet, local, localGet, stride, i32Add]
  const accumulate = (row: number, half: number) =>
    join(
      localGet,
      element,
      localGet,
      factor(half),
      localGet,
      sum(row, half),
      multiplyAdd,
      localSet,
      sum(row, half),
    )
  return join(
    list([
      [rowCount, i32],
      [2 * rowCount + 3, v128],
    ]),
    eachRow((row) =>
      join(row === 0 ? [localGet, a] : below(pointer(row - 1), aStride), localSet, pointer(row)),
    ),
    loop,
    join(load(b, 0), localSet, factor(0), load(b, 16), localSet, factor(1)),
    eachRow((row) =>
      join(
        join(loadSplat(pointer(row)), localSet, element),
        accumulate(row, 0),
        accumulate(row, 1),
        advance(pointer(row), floatBytes),
      ),
    ),
    advance(b, panelColumns * floatBytes),
    join(localGet, depth, i32Const, 1, i32Subtract, localTee, depth, branchIf, 0, end),
    eachRow((row) =>
      join(
        join(localGet, out, localGet, sum(row, 0), store(0)),
        join(localGet, out, localGet, sum(row, 1), store(16)),
        join(below(out, outStride), localSet, out),
      ),
    ),
    end,
  )
}

/** A function for each count of rows, named by it. */
function moduleBytes(): Uint8Array {
  const bodies = Array.from({ length: tileRowsMax }, (_, i) => withLength(tileBody(i + 1)))
  const parameters = Array.from({ length: 6 }, () => [i32])
  const allOfTheFirstType = bodies.map(() => [0])
  const names = bodies.map((_, i) => join(text(String(i + 1)), 0, i))
  return new Uint8Array(
    join(
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(1, [join(0x60, list(parameters), 0)]),
      section(2, [join(text('js'), text('memory'), 2, 0, 1)]),
      section(3, allOfTheFirstType),
      section(7, names),
      section(10, bodies),
    ),
  )
}

const withLength = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes]
const list = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()]
const section = (id: number, items: readonly (readonly number[])[]): number[] => [
  id,
  ...withLength(list(items)),
]
const text = (value: string): number[] => withLength([...Buffer.from(value)])
