/** What is known of a run however it ended. */
export type RunReport = {
  /** Byte for byte what the tool wrote, up to the cap. */
  stdout: Buffer
  /** The end of what the tool wrote to stderr. */
  stderrTail: Buffer
  /** Bytes of stderr in all, kept or not. */
  stderrBytes: number
  /** False: something still held a pipe when everything was dead, or the connection broke. */
  isOutputComplete: boolean
  wallMs: number
  cpuMs?: number
  memoryPeakBytes?: number
  /** True once the payload may have reached the tool: from here on its effects may exist. */
  isHandedOver: boolean
}

/** Why a sandbox did not come to be, or its tool did not start. */
export type StartFailure = {
  kind: 'start_failed'
  /** `entrypoint`: the tool's program; `payload`: more than can be handed over; `refused`: our policy. */
  reason: 'entrypoint' | 'payload' | 'refused' | 'engine' | 'timeout'
  detail: string
}

export type EngineLost = { kind: 'engine_lost'; detail: string }

/** Why there is no sandbox. */
export type TakeFailure = StartFailure | { kind: 'image_missing' } | EngineLost | { kind: 'cancelled' }

/** How a run ended; exactly one each. */
export type Ending =
  | { kind: 'exited'; code: number; signal?: string }
  | { kind: 'timed_out' }
  | { kind: 'cancelled' }
  | { kind: 'out_of_memory' }
  | { kind: 'output_too_large' }
  | { kind: 'image_missing' }
  | StartFailure
  | EngineLost

export type Outcome = Ending & RunReport
