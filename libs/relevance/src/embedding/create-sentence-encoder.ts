import { createMatrixKernel } from './matrix-kernel.ts'
import { readModel } from './read-model.ts'
import type { Model } from './read-model.ts'
import { createTokenizer } from './tokenize.ts'
import {
  createLayer,
  createLinear,
  embeddingSize,
  stateSize,
  takeSpace,
  tokensMax,
} from './transformer-layer.ts'

// The Universal Sentence Encoder (lite): two layers of a transformer over the pieces of a text, their mean, one layer more.
// Written out, since TensorFlow.js takes three to four times as long for the same vectors.

/** The weights and what one text needs, with a little to spare. */
const floatsMax = 6_000_000

export async function createSentenceEncoder(): Promise<(text: string) => Float32Array<ArrayBuffer>> {
  const model = await readModel()
  const tokenize = createTokenizer(model.vocabulary)
  const kernel = createMatrixKernel(floatsMax)
  const space = takeSpace(kernel)
  const first = createLayer(model, kernel, space, 0)
  const second = createLayer(model, kernel, space, 1)
  const last = createLinear(
    kernel,
    model.weights(['tanh_layer_0/weights'], stateSize * stateSize),
    model.weights(['tanh_layer_0/bias'], stateSize),
  )
  const placeToken = createEmbedding(model, space.input)

  return (text) => {
    const tokens = tokenize(text).slice(0, tokensMax)
    if (tokens.length === 0) throw new RangeError('an empty text has no vector')
    for (const [position, token] of tokens.entries()) placeToken(token, position)
    first.attend(tokens.length)
    first.feedForward(tokens.length)
    second.attend(tokens.length)
    last(second.meanFeedForward(tokens.length), space.hidden, 1)
    return unitOfTanh(space.hidden.subarray(0, stateSize))
  }
}

/** Twice what a token means, and where it stands, in sines and cosines. */
function createEmbedding(model: Model, to: Float32Array): (token: number, position: number) => void {
  // Two more than there are pieces: they are of no use here.
  const embeddings = model.weights(['Embeddings_en'], (model.vocabulary.length + 2) * embeddingSize)
  const half = embeddingSize / 2
  const frequencies = model.weights(['TimingSignal/ExpandDims'], half)
  return (token, position) => {
    const embedding = embeddings.subarray(token * embeddingSize, (token + 1) * embeddingSize)
    const start = position * embeddingSize
    for (let i = 0; i < half; i += 1) {
      const angle = position * (frequencies[i] ?? 0)
      to[start + i] = 2 * (embedding[i] ?? 0) + Math.sin(angle)
      to[start + half + i] = 2 * (embedding[half + i] ?? 0) + Math.cos(angle)
    }
  }
}

function unitOfTanh(values: Float32Array): Float32Array<ArrayBuffer> {
  const bounded = Float32Array.from(values, Math.tanh)
  const length = Math.sqrt(bounded.reduce((sum, x) => sum + x * x, 0))
  return bounded.map((x) => x / length)
}
