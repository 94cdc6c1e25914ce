import type { Violation } from './check-history.ts'
import type { History, MemoryHistory } from './history.ts'

// Sums of tenths, in another order than they were added.
const roundingMax = 1e-6

/** The memory has moved once for each outcome that counts, and for nothing else (I3). */
export function checkMemory({ memory, counted }: History): Violation[] {
  const nameOf = ({ tool, topic }: MemoryHistory) => (topic === null ? tool : `${tool} in ${topic}`)
  const stored = new Map(memory.map((one) => [nameOf(one), one]))
  const wanted = new Map(counted.map((one) => [nameOf(one), one]))
  const names = new Set([...stored.keys(), ...wanted.keys()])
  return [...names].flatMap((name) => {
    const difference = differ(stored.get(name), wanted.get(name))
    return difference === undefined ? [] : [{ rule: 'I3', detail: `the memory of ${name} ${difference}` }]
  })
}

function differ(stored: MemoryHistory | undefined, wanted: MemoryHistory | undefined): string | undefined {
  if (stored === undefined) return `is not there, and ${wanted?.attempts} outcomes count`
  if (wanted === undefined) return `has ${stored.attempts} attempts, and no outcome counts`
  if (stored.attempts !== wanted.attempts) return `has ${stored.attempts} attempts of ${wanted.attempts}`
  if (stored.successes !== wanted.successes) return `has ${stored.successes} successes of ${wanted.successes}`
  if (Math.abs(stored.rewardSum - wanted.rewardSum) > roundingMax)
    return `has a reward of ${stored.rewardSum} in place of ${wanted.rewardSum}`
  return undefined
}
