/** Turns texts into vectors. Vectors of two models are never comparable: keep `modelId` with each. */
export type Embedder = {
  readonly modelId: string
  readonly dimensions: number
  /** So many requests at once are as fast as one; more would only wait for each other. */
  readonly atOnceMax: number
  /** One for each text, in their order. Throws EmbedderError. */
  embed: (texts: readonly string[]) => Promise<Float32Array[]>
  close: () => Promise<void>
}

/** Whose fault it is that there are no vectors: a text that is refused says nothing of the next one. */
type Fault = 'text' | 'embedder'

/** No vectors could be had. Search goes on by the terms alone. */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError'
  readonly fault: Fault

  constructor(message: string, { fault = 'embedder', cause }: { fault?: Fault; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.fault = fault
  }
}
