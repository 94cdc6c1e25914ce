/** A tool's folder was written to while it was read or sent. Reading it again is the mend. */
export class ContextChanged extends Error {
  readonly path: string

  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${JSON.stringify(path)} ${what}`, options)
    this.name = 'ContextChanged'
    this.path = path
  }
}
