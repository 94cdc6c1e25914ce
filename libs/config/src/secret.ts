import { inspect } from 'node:util'

/** A value that shows nothing of itself when it is printed, logged or serialised. Only `reveal` gives it away. */
export class Secret {
  readonly #value: string
  readonly #readAgain: (() => Secret) | undefined

  /** `readAgain` gets what stands now where the value came from. */
  constructor(value: string, readAgain?: () => Secret) {
    this.#value = value
    this.#readAgain = readAgain
  }

  reveal(): string {
    return this.#value
  }

  /** How to read it again; undefined where it stays as it is for this process. */
  get readAgain(): (() => Secret) | undefined {
    return this.#readAgain
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [inspect.custom](): string {
    return '***'
  }
}
