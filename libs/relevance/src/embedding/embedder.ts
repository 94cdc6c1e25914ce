/** Turns texts into vectors. Vectors of two models are never comparable: keep `modelId` with each. */
export type Embedder = {
  readonly modelId: string
  readonly dimensions: number
  /** One for each text, in their order. Throws EmbedderError. */
  embed: (texts: readonly string[]) => Promise<Float32Array[]>
  close: () => Promise<void>
}

/** No vectors could be had. Search goes on by the terms alone. */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError'
}
