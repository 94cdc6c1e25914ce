export type FlightsOptions<Item, Answer> = {
  /** Items of one lane are never in two flights at once: their flights would wait for each other. */
  laneOf: (item: Item) => string
  /** One answer for each, in their order. */
  send: (items: readonly Item[]) => Promise<Answer[]>
  /** Whether the fault may lie in one of the items, so that the others deserve to be tried without it. */
  isItemFault: (error: unknown) => boolean
  flightsMax: number
  itemsMax: number
  /** How many may wait, and what is thrown at whoever comes then. Without it: all that come. */
  waiting?: { max: number; onFull: () => Error }
}

type Waiting<Item, Answer> = {
  item: Item
  lane: string
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/**
 * Joins what waits into batches. While a flight is under way what comes waits for the next one: the slower the
 * database, the larger the batches, and a single caller never waits for others. A lane whose flight is stuck delays
 * those who are on board with it and nobody else.
 */
export function createFlights<Item, Answer>(options: FlightsOptions<Item, Answer>) {
  const busyLanes = new Set<string>()
  let waiting: Waiting<Item, Answer>[] = []
  let flights = 0
  let isPlanned = false

  async function fly(passengers: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await options.send(passengers.map(({ item }) => item))
      passengers.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]
        if (answer === undefined) reject(new Error('a batch was answered in part'))
        else resolve(answer)
      })
    } catch (error) {
      if (passengers.length === 1 || !options.isItemFault(error)) {
        for (const { reject } of passengers) reject(error)
        return
      }
      for (const passenger of passengers) await fly([passenger])
    }
  }

  function board(): Waiting<Item, Answer>[] {
    const boarding = waiting.filter(({ lane }) => !busyLanes.has(lane)).slice(0, options.itemsMax)
    const isOnBoard = new Set(boarding)
    waiting = waiting.filter((one) => !isOnBoard.has(one))
    return boarding
  }

  function depart(): void {
    isPlanned = false
    while (flights < options.flightsMax) {
      const passengers = board()
      if (passengers.length === 0) return
      const lanes = new Set(passengers.map(({ lane }) => lane))
      for (const lane of lanes) busyLanes.add(lane)
      flights += 1
      const land = () => {
        flights -= 1
        for (const lane of lanes) busyLanes.delete(lane)
        plan()
      }
      // What fails is told to those on board.
      fly(passengers).then(land, land)
    }
  }

  function plan(): void {
    if (isPlanned || waiting.length === 0 || flights >= options.flightsMax) return
    isPlanned = true
    // setImmediate and not a microtask: requests that were read in the same turn still come in before it.
    setImmediate(depart)
  }

  return (item: Item): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { waiting: limit } = options
      if (limit !== undefined && waiting.length >= limit.max) return reject(limit.onFull())
      waiting.push({ item, lane: options.laneOf(item), resolve, reject })
      plan()
    })
}
