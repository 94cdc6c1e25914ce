import { addressGroup } from '@toolyard/access/address-group'
import { AppError } from '@toolyard/contract/errors'

// What anybody can make this process hold and work on before it is known who sends. In bytes of bodies, so that many
// small messages have room where few large ones would.
const bytesMax = { all: 64 * 2 ** 20, tool: 32 * 2 ** 20, address: 16 * 2 ** 20, spentAddress: 2 ** 20 }
// Of the smallest too: its headers, the question for the secrets, a connection.
const messageBytesMin = 64 * 1024

export type Arrival = {
  tool: string
  address: string
  /** Whether too much came from there already that was not believed. */
  isSpent: boolean
  /** At most. */
  bytes: number
}

export type ReceivingRoom = {
  /** Takes room for one message, or refuses it. Gives it back by what it returns, which works once. */
  take(arrival: Arrival): () => void
}

export function createReceivingRoom(): ReceivingRoom {
  const taken = new Map<string, number>()

  function add(name: string, bytes: number): void {
    const sum = (taken.get(name) ?? 0) + bytes
    if (sum > 0) taken.set(name, sum)
    else taken.delete(name)
  }

  return {
    take({ tool, address, isSpent, bytes }) {
      const weight = Math.max(bytes, messageBytesMin)
      const rooms = [
        { name: 'all', max: bytesMax.all },
        { name: `tool ${tool}`, max: bytesMax.tool },
        { name: `address ${addressGroup(address)}`, max: isSpent ? bytesMax.spentAddress : bytesMax.address },
      ]
      if (rooms.some(({ name, max }) => (taken.get(name) ?? 0) + weight > max)) {
        const detail = 'Too much is being received at this moment: send it again'
        throw new AppError('rate_limited', detail, { retryAfterSeconds: 1 })
      }
      rooms.forEach(({ name }) => add(name, weight))
      let isTaken = true
      return () => {
        if (isTaken) rooms.forEach(({ name }) => add(name, -weight))
        isTaken = false
      }
    },
  }
}
