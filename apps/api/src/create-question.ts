/** Who asked has waited long enough; the question stands. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'

  constructor(answerMs: number) {
    super(`no answer in ${answerMs} ms`)
  }
}

/**
 * Puts a question for all who ask at the same time, and never again before it has been answered, so that what hangs
 * holds one connection and no more. Who has waited `answerMs` is told so, while the question stands.
 */
export function createQuestion<T>(ask: () => Promise<T>, answerMs: number): () => Promise<T> {
  let asked: Promise<T> | undefined
  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Unanswered(answerMs)), answerMs)
    try {
      return await Promise.race([asked, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
