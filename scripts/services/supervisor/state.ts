import { rmSync } from 'node:fs'
import type { AdminKey } from '../database/admin-key.ts'
import type { EngineChoice } from '../engine/engine.ts'
import { readJson, writeJson } from '../installation/json-file.ts'
import { asIdentity } from '../installation/lock.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { isAlive } from '../machine/process-identity.ts'

/** What the supervisor tells the other commands about what it runs: one file, replaced whole at every change. */
export type SupervisorState = ProcessIdentity & {
  format: typeof format
  phase: 'starting' | 'ready' | 'stopping'
  startedAt: string
  url: string
  database?: { kind: 'own' | 'named'; address: string; folder?: string; process?: ProcessIdentity }
  engine?: { kind: EngineChoice['kind']; dockerHost: string; process?: ProcessIdentity }
  network?: { name: string; bridge: string; egressFilter: 'on' | 'off'; reason?: string; warning?: string }
  queue: 'redis' | 'postgres'
  adminKey?: AdminKey
  apps: Partial<Record<AppName, AppState>>
}

export const appNames = ['api', 'worker', 'scheduler'] as const
export type AppName = (typeof appNames)[number]

export type AppState = {
  phase: 'starting' | 'ready' | 'crashed' | 'stopped'
  process?: ProcessIdentity
  startedAt: string
  restarts: number
}

const format = 1
export const stateFormat = format

export const writeState = (path: string, state: SupervisorState) => writeJson(path, state)
export const removeState = (path: string) => rmSync(path, { force: true })

/** The supervisor that runs now. The state of one that died is no answer; `readLastState` has it for cleaning up. */
export function readLiveState(path: string): SupervisorState | undefined {
  const state = readLastState(path)
  return state !== undefined && isAlive(state) ? state : undefined
}

export function readLastState(path: string): SupervisorState | undefined {
  return readJson(path, (value) => (isState(value) ? value : undefined))
}

// Only writeState makes files of this format, so the rest of it is as declared.
const isState = (value: unknown): value is SupervisorState =>
  typeof value === 'object' &&
  value !== null &&
  'format' in value &&
  value.format === format &&
  asIdentity(value) !== undefined
