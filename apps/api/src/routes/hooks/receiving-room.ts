import { addressGroup } from '@toolyard/access/address-group'
import { AppError } from '@toolyard/contract/errors'

// What anybody can make this process hold and work on before it is known who sends. In bytes of bodies, so that many
// small messages have room where few large ones would.
const bytesMax = { all: 64 * 2 ** 20, tool: 32 * 2 ** 20, address: 16 * 2 ** 20, spentAddress: 2 ** 20 }
// Of each from its beginning: its headers, the question for the secrets, a connection. What it declares takes no room,
// because to declare costs nothing: whoever sends nothing would take it from all others.
const messageBytesMin = 32 * 1024

export type Arrival = {
  tool: string
  address: string
  /** Whether too much came from there already that was not believed. */
  isSpent: boolean
}

export type Place = {
  /** For so many bytes of a body in all, or refuses them. */
  grow: (bytes: number) => void
  /** Gives back all that it has; once it has nothing, that is nothing. */
  leave: () => void
}

export type ReceivingRoom = {
  /** Takes room for the beginning of one message, or refuses it. */
  take(arrival: Arrival): Place
}

export function createReceivingRoom(): ReceivingRoom {
  const taken = new Map<string, number>()

  function add(name: string, bytes: number): void {
    const sum = (taken.get(name) ?? 0) + bytes
    if (sum > 0) taken.set(name, sum)
    else taken.delete(name)
  }

  return {
    take({ tool, address, isSpent }) {
      const rooms = [
        { name: 'all', max: bytesMax.all },
        { name: `tool ${tool}`, max: bytesMax.tool },
        { name: `address ${addressGroup(address)}`, max: isSpent ? bytesMax.spentAddress : bytesMax.address },
      ]
      let weight = 0
      const grow = (bytes: number) => {
        const more = bytes - weight
        if (more <= 0) return
        if (rooms.some(({ name, max }) => (taken.get(name) ?? 0) + more > max)) {
          const detail = 'Too much is being received at this moment: send it again'
          throw new AppError('rate_limited', detail, { retryAfterSeconds: 1 })
        }
        rooms.forEach(({ name }) => add(name, more))
        weight = bytes
      }
      grow(messageBytesMin)
      return {
        grow,
        leave() {
          rooms.forEach(({ name }) => add(name, -weight))
          weight = 0
        },
      }
    },
  }
}
