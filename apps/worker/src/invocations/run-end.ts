import type { Outcome, TakeFailure } from '@toolyard/sandbox/outcome'
import type { TooLarge } from '@toolyard/contract/payload'

/** Why an attempt is stopped from outside. */
export type StopReason =
  /** The caller asked for it. */
  | 'cancel'
  /** This worker ends. */
  | 'drain'
  /** The row is somebody else's by now. */
  | 'lost'
  /** The lease was not renewed for so long that somebody else may take the row soon. */
  | 'unrenewed'

/** How far an attempt came, and how that ended. */
export type RunEnd =
  | { kind: 'ran'; outcome: Outcome }
  | { kind: 'no_sandbox'; failure: TakeFailure }
  /** Before anything was handed over. */
  | { kind: 'stopped' }
  /** The row would not be ours any more when the tool starts. */
  | { kind: 'lease_gone' }
  | { kind: 'payload_too_large'; tooLarge: TooLarge }
  | { kind: 'memory_too_large'; neededBytes: number; totalBytes: number }
  | { kind: 'manifest_unreadable' }
  | { kind: 'not_configured'; keys: readonly string[] }
  | { kind: 'settings_unreadable' }
  /** A fault of this program. */
  | { kind: 'broken'; isHandedOver: boolean }
