export type QueueErrorReason =
  /** The queues of this process are closed or closing. */
  | 'closed'
  /** The backend did not answer in time, or too much already waits for its answer. */
  | 'unreachable'
  /** The call itself is wrong: an id, data or a rule that the queue does not take. */
  | 'refused'

/** Every failure of this library that a caller can act on. Rows are the truth: what was not queued is queued again later. */
export class QueueError extends Error {
  override readonly name = 'QueueError'
  readonly reason: QueueErrorReason

  constructor(reason: QueueErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
