/** The two ends of a sandbox's init: what is sent is its stdin, what is heard its stdout. */
export type Channel = {
  /** Silently nothing once closed: `onClose` is what tells. */
  send(data: Buffer): void
  /** Once. Nothing said before is lost. `onClose` comes last and once, with what the init wrote to its stderr. */
  listen(listener: { onData(chunk: Buffer): void; onClose(lastWords: string): void }): void
  /** The init's stdin ends with it, and so does everything in the sandbox. */
  close(): void
  isOpen(): boolean
}
