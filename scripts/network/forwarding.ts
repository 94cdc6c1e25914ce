import { existsSync, mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../services/terminal/failure.ts'
import { readJson, writeJson } from '../services/installation/json-file.ts'
import { readLinks } from './host-network.ts'

// The host forwards packets, or it does not, for all of its links at once. Where we have to switch that on, we write
// down between which links nothing was forwarded until then, so that the filter keeps it so, and that it was us. The
// record is the machine's, not an installation's, and is gone with the switch itself when the machine starts anew.

export const machineFolder = '/run/toolyard'
const record = join(machineFolder, 'forwarding.json')
const switchPath = '/proc/sys/net/ipv4/ip_forward'

export const isForwarding = () => readFileSync(switchPath, 'utf8').trim() !== '0'

/** The links that have to stay closed to each other, because only we switched forwarding on. */
export async function planForwarding(): Promise<string[]> {
  const before = readRecord()
  if (isForwarding()) return before ?? []
  // A bridge of somebody else's is there to be forwarded for; its owner has switches of his own.
  const links = before ?? (await readLinks()).filter(({ isBridge }) => !isBridge).map(({ name }) => name)
  mkdirSync(machineFolder, { recursive: true })
  // Before the switch: a crash in between leaves a record too many, which the next `down` takes away.
  writeJson(record, { links })
  return links
}

/** Only once the filter is there: between the two, nothing else may pass. */
export function startForwarding(): void {
  if (!isForwarding()) writeFileSync(switchPath, '1')
}

/** Gives back what we switched on, unless another bridge of the machine relies on it by now. */
export async function stopForwarding(): Promise<void> {
  if (!existsSync(record)) return
  if ((await readLinks()).some(({ isBridge }) => isBridge)) return
  writeFileSync(switchPath, '0')
  rmSync(record, { force: true })
}

export function removeMachineFolder(): void {
  try {
    rmdirSync(machineFolder)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
  }
}

function readRecord(): string[] | undefined {
  return readJson(record, (value) =>
    typeof value === 'object' && value !== null && 'links' in value && Array.isArray(value.links)
      ? value.links.map(String)
      : undefined,
  )
}
