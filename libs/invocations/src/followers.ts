export type Followers<Follower> = {
  /** Its id is worked on soon, and then now and then. Returns how to stop. */
  add: (id: string, follower: Follower) => () => void
  of: (id: string) => ReadonlySet<Follower>
  /** These are worked on soon, as far as they are followed. */
  plan: (ids: Iterable<string>) => void
  count: () => number
  close: () => Promise<void>
}

export type FollowersOptions = {
  /** One run after the other, each for those ids that were planned in one turn or while the run before was under way. */
  work: (ids: readonly string[]) => Promise<void>
  idsPerRun: number
  everyMs: number
  onFailure: (error: unknown) => void
}

/** Who follows which invocations, and what is done for all that are followed: together, and again every `everyMs`. */
export function createFollowers<Follower>(options: FollowersOptions): Followers<Follower> {
  const { work, idsPerRun, everyMs, onFailure } = options
  const followed = new Map<string, Set<Follower>>()
  const nobody: ReadonlySet<Follower> = new Set()
  const planned = new Set<string>()
  let working: Promise<void> | undefined
  let isClosed = false

  async function workOff(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (planned.size > 0) {
      const ids = [...planned].slice(0, idsPerRun)
      for (const id of ids) planned.delete(id)
      const wanted = ids.filter((id) => followed.has(id))
      if (wanted.length > 0) await work(wanted).catch(onFailure)
    }
    working = undefined
  }

  function plan(ids: Iterable<string>): void {
    if (isClosed) return
    for (const id of ids) planned.add(id)
    if (planned.size > 0) working ??= workOff()
  }

  const planning = setInterval(() => plan(followed.keys()), everyMs)

  return {
    add(id, follower) {
      const others = followed.get(id) ?? new Set()
      followed.set(id, others.add(follower))
      plan([id])
      return () => {
        others.delete(follower)
        if (others.size === 0 && followed.get(id) === others) followed.delete(id)
      }
    },
    of: (id) => followed.get(id) ?? nobody,
    plan,
    count: () => followed.size,
    async close() {
      isClosed = true
      clearInterval(planning)
      followed.clear()
      planned.clear()
      await working
    },
  }
}
