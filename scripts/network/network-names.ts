import { createHash } from 'node:crypto'

export type NetworkNames = { network: string; bridge: string; table: string }

const bridgeIdMax = 12

/** What the tools' network of an installation is called. A link's name may have 15 bytes. */
export function networkNames(id: string): NetworkNames {
  const isShort = /^[a-z0-9]+$/.test(id) && id.length <= bridgeIdMax
  const short = isShort ? id : createHash('sha256').update(id).digest('hex').slice(0, bridgeIdMax)
  return { network: `toolyard-${id}`, bridge: `ty-${short}`, table: `toolyard_${short}` }
}
