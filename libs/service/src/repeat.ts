export type RepeatOptions = {
  everyMs: number
  /** The pause after a failure; as after a success when it is left out. */
  retryMs?: number
  work: () => Promise<void>
  /** Called when it begins to fail, once until it works again. */
  onFailure: (error: unknown) => void
}

export type Repeated = {
  /** Does not wait for the next turn: it comes at once, or right after the one that is under way. */
  hasten(): void
  /** Does not begin again; resolves when the run that is under way has ended. */
  stop(): Promise<void>
}

/** Does `work` at once and again after each pause. Runs never overlap, and a failure is not the end. */
export function repeat({ everyMs, retryMs = everyMs, work, onFailure }: RepeatOptions): Repeated {
  let timer: NodeJS.Timeout | undefined
  let isFailing = false
  let isStopped = false
  let isHastened = false
  let running = run()

  async function run(): Promise<void> {
    timer = undefined
    try {
      await work()
      isFailing = false
    } catch (error) {
      if (!isFailing && !isStopped) onFailure(error)
      isFailing = true
    }
    if (isStopped) return
    const pauseMs = isFailing ? retryMs : everyMs
    timer = setTimeout(begin, isHastened ? 0 : pauseMs)
    isHastened = false
  }

  function begin(): void {
    running = run()
  }

  return {
    hasten() {
      if (isStopped) return
      if (timer === undefined) {
        isHastened = true
        return
      }
      clearTimeout(timer)
      begin()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
