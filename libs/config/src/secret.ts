import { inspect } from 'node:util'

/** A value that shows nothing of itself when it is printed, logged or serialised. Only `reveal` gives it away. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
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
