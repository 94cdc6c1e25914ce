import { createHash } from 'node:crypto'

/** How much later than `tickAt` a tool is to begin: less than `jitterSeconds`, and the same whenever it is asked. */
export function jitterMs(tool: string, tickAt: Date, jitterSeconds: number): number {
  const digest = createHash('sha256').update(`${tool}\n${tickAt.toISOString()}`).digest()
  return Math.floor((digest.readUIntBE(0, 6) / 2 ** 48) * jitterSeconds * 1_000)
}
