// A client of the older versions ends a call by a message of its own, which comes as a request of its own. This is how
// that request finds the call. It is known to this process alone: where several serve, the client's requests must keep
// to one of them, as by its session; or the invocation is ended by POST /invocations/{id}/cancel.
// The message may also come before the call does, on a connection that was quicker, or with it in one batch: what finds
// no call is kept for a moment.

export type CallsUnderWay = {
  /** `signal` aborts when the caller ends the call, and has when it did so before. */
  begin: (call: CallName) => { signal: AbortSignal; done: () => void }
  end: (call: CallName) => void
}

/** Ids of requests are the client's own, so only its session tells them from those of others with the same key. */
export type CallName = { keyId: string; session: string; requestId: string | number }

type CallsOptions = { keepMs: number; keptMax: number }

// Of a key: as many calls as one request can bring.
const keptDefaults: CallsOptions = { keepMs: 5_000, keptMax: 100 }

export function createCallsUnderWay(options: CallsOptions = keptDefaults): CallsUnderWay {
  const calls = new Map<string, AbortController>()
  const kept = createKept(options)
  return {
    begin(call) {
      const controller = new AbortController()
      const name = nameOf(call)
      // Two calls of one name could not be told apart, and ending the wrong one is worse than ending none.
      if (calls.has(name)) return { signal: controller.signal, done: () => {} }
      if (kept.take(call.keyId, name)) controller.abort()
      calls.set(name, controller)
      return { signal: controller.signal, done: () => void calls.delete(name) }
    },
    end(call) {
      const name = nameOf(call)
      const controller = calls.get(name)
      if (controller === undefined) kept.put(call.keyId, name)
      else controller.abort()
    },
  }
}

const nameOf = ({ keyId, session, requestId }: CallName) => JSON.stringify([keyId, session, requestId])

/** Names for a moment. Each key has room of its own, so that none can drive out another's. */
function createKept({ keepMs, keptMax }: CallsOptions) {
  const byKey = new Map<string, Set<string>>()
  const take = (keyId: string, name: string): boolean => {
    const names = byKey.get(keyId)
    const isThere = names?.delete(name) ?? false
    if (names?.size === 0) byKey.delete(keyId)
    return isThere
  }
  return {
    take,
    put(keyId: string, name: string): void {
      const names = byKey.get(keyId) ?? new Set()
      if (names.has(name) || names.size >= keptMax) return
      byKey.set(keyId, names.add(name))
      setTimeout(take, keepMs, keyId, name).unref()
    },
  }
}
