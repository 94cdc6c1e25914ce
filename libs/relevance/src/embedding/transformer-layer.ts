import type { MatrixKernel, Panels, Rows } from './matrix-kernel.ts'
import { fillPanels, panelColumns } from './matrix-kernel.ts'
import { addTo, meanRow, normalize, rectify, softmax } from './row-arithmetic.ts'
import type { Norm } from './row-arithmetic.ts'
import type { Model } from './read-model.ts'

// One layer: what each token takes from the others, then what it makes of that by itself; both added to what it was.

/** So many tokens are read. */
export const tokensMax = 128
export const embeddingSize = 256
export const stateSize = 512
const hiddenSize = 1_536
const headCount = 4

/** What one text needs, kept from text to text. */
export type Space = {
  /** For the first layer; the one after it takes the state and changes it. */
  input: Float32Array
  state: Float32Array
  normal: Float32Array
  joined: Float32Array
  hidden: Float32Array
  scores: Float32Array
  keys: Float32Array
  values: Float32Array
}

export function takeSpace({ take }: MatrixKernel): Space {
  const headSizeMax = stateSize / headCount
  return {
    input: take(tokensMax * embeddingSize),
    state: take(tokensMax * stateSize),
    normal: take(tokensMax * stateSize),
    joined: take(tokensMax * 3 * stateSize),
    hidden: take(tokensMax * hiddenSize),
    scores: take(tokensMax * tokensMax),
    keys: take(tokensMax * headSizeMax),
    values: take(tokensMax * headSizeMax),
  }
}

/** to = from × weights + bias, for so many rows, which follow each other on both sides. */
export type Linear = (from: Float32Array, to: Float32Array, count: number) => void

export function createLinear(kernel: MatrixKernel, weights: Float32Array, bias: Float32Array): Linear {
  const size = bias.length
  const panels = kernel.takePanels(weights.length / size, size)
  fillPanels(panels, weights, size, 1)
  return (from, to, count) => {
    kernel.multiply({ values: from, stride: panels.depth }, panels, { values: to, stride: size }, count)
    for (let start = 0; start < count * size; start += size)
      for (let i = 0; i < size; i += 1) to[start + i] = (to[start + i] ?? 0) + (bias[i] ?? 0)
  }
}

type Parts = ReturnType<typeof readParts>

export function createLayer(model: Model, kernel: MatrixKernel, space: Space, index: 0 | 1) {
  const parts = readParts(model, kernel, index)
  const { state, normal, hidden } = space
  const expand = (count: number): void => {
    normalize(parts.hiddenNorm, state, normal, count)
    parts.expand(normal, hidden, count)
    rectify(hidden, count * hiddenSize)
  }
  return {
    attend: (count: number): void => attend(kernel, parts, space, count),
    feedForward(count: number): void {
      expand(count)
      parts.contract(hidden, normal, count)
      addTo(state, normal, count * stateSize)
    },
    /** The mean over the tokens of the same, for the last layer: to contract their mean is to contract each of them. */
    meanFeedForward(count: number): Float32Array {
      expand(count)
      meanRow(hidden, hiddenSize, count)
      meanRow(state, stateSize, count)
      parts.contract(hidden, normal, 1)
      addTo(state, normal, stateSize)
      return state.subarray(0, stateSize)
    },
  }
}

function readParts(model: Model, kernel: MatrixKernel, index: 0 | 1) {
  const inputSize = index === 0 ? embeddingSize : stateSize
  const vector = (part: string, size: number) => model.weights([`/Layer_${index}/`, part], size)
  const norm = (part: string, size: number): Norm => ({
    scale: vector(`${part}/layer_prepostprocess/layer_norm/layer_norm_scale`, size),
    bias: vector(`${part}/layer_prepostprocess/layer_norm/layer_norm_bias`, size),
  })
  const linear = (names: readonly [weights: string, bias: string], depth: number, size: number): Linear =>
    createLinear(kernel, vector(names[0], depth * size), vector(names[1], size))
  const attention = (part: string, size: number): Linear =>
    linear([`${part}_transform_single/kernel`, `${part}_transform_single/bias`], inputSize, size)
  return {
    inputSize,
    norm: norm('TransformerLayer', inputSize),
    queriesKeysValues: attention('qkv', 3 * inputSize),
    output: attention('output', stateSize),
    /** Makes what the tokens were as wide as they become. Null: they are it already. */
    residual: index === 0 ? linear(['dense/kernel', 'dense/bias'], inputSize, stateSize) : null,
    hiddenNorm: norm('FFN', stateSize),
    expand: linear(['conv1/Tensordot/Reshape_1', 'conv1/bias'], stateSize, hiddenSize),
    contract: linear(['conv2/Tensordot/Reshape_1', 'conv2/bias'], hiddenSize, stateSize),
  }
}

function attend(kernel: MatrixKernel, parts: Parts, space: Space, count: number): void {
  const { state, normal, joined, hidden } = space
  const input = parts.residual === null ? state : space.input
  normalize(parts.norm, input, normal, count)
  parts.queriesKeysValues(normal, joined, count)
  for (let head = 0; head < headCount; head += 1) {
    const size = parts.inputSize / headCount
    attendHead(kernel, space, { start: head * size, size }, count)
  }
  parts.output(normal, hidden, count)
  parts.residual?.(input, state, count)
  addTo(state, hidden, count * stateSize)
}

type Head = { start: number; size: number }

/** Each token's query against all keys; by that, a mean of the values. It takes the place of what was in `normal`. */
function attendHead(kernel: MatrixKernel, space: Space, { start, size }: Head, count: number): void {
  const all = size * headCount
  const joinedFrom = (column: number): Rows => ({ values: space.joined.subarray(column), stride: 3 * all })
  const [query, key, value] = [joinedFrom(start), joinedFrom(all + start), joinedFrom(2 * all + start)]
  const columns = Math.ceil(count / panelColumns) * panelColumns
  const keys: Panels = { values: space.keys, depth: size, columns }
  const values: Panels = { values: space.values, depth: count, columns: size }
  const scores: Rows = { values: space.scores, stride: tokensMax }
  fillPanels(keys, key.values, 1, key.stride)
  fillPanels(values, value.values, value.stride, 1)
  kernel.multiply(query, keys, scores, count)
  for (let row = 0; row < count; row += 1)
    softmax(scores.values.subarray(row * tokensMax, row * tokensMax + count), 1 / Math.sqrt(size))
  kernel.multiply(scores, values, { values: space.normal.subarray(start), stride: all }, count)
}
