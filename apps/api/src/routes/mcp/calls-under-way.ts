// A client of the older versions ends a call by a message of its own, which comes as a request of its own. This is how
// that request finds the call. It is known to this process alone: where several serve, the client's requests must keep
// to one of them, as by its session; or the invocation is ended by POST /invocations/{id}/cancel.

export type CallsUnderWay = {
  /** `signal` aborts when the caller ends the call. */
  begin: (call: CallName) => { signal: AbortSignal; done: () => void }
  end: (call: CallName) => void
}

/** Ids of requests are the client's own, so only its session tells them from those of others with the same key. */
export type CallName = { keyId: string; session: string | undefined; requestId: string | number }

export function createCallsUnderWay(): CallsUnderWay {
  const calls = new Map<string, AbortController>()
  return {
    begin(call) {
      const controller = new AbortController()
      const name = nameOf(call)
      // Two calls of one name could not be told apart, and ending the wrong one is worse than ending none.
      if (name === undefined || calls.has(name)) return { signal: controller.signal, done: () => {} }
      calls.set(name, controller)
      return { signal: controller.signal, done: () => void calls.delete(name) }
    },
    end(call) {
      const name = nameOf(call)
      if (name !== undefined) calls.get(name)?.abort()
    },
  }
}

const nameOf = ({ keyId, session, requestId }: CallName) =>
  session === undefined ? undefined : JSON.stringify([keyId, session, requestId])
