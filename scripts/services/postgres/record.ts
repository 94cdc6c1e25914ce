import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { isPassableByOthers } from '../installation/data-dir.ts'
import { Failure } from '../terminal/failure.ts'
import { readJson, writeJson } from '../installation/json-file.ts'
import { isRoot } from '../machine/is-root.ts'
import { systemFolder } from './programs.ts'

export type PostgresHome = {
  installationId: string
  /** Folder of the cluster, where others can pass; else it goes to the system folder under `name`. */
  folder: string
  name: string
  /** Where this cluster is, its port and password. */
  record: string
  log: string
  /** Server settings beyond ours, as in `fsync=off`. */
  settings: readonly string[]
}

/** What must be known to come back to a cluster. */
export type PostgresRecord = { folder: string; port: number; password: string }

export function readRecord(home: PostgresHome): PostgresRecord | undefined {
  const record = readJson(home.record, (value): PostgresRecord | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    if (!('folder' in value && 'port' in value && 'password' in value)) return undefined
    return {
      folder: resolve(home.record, '..', String(value.folder)),
      port: Number(value.port),
      password: String(value.password),
    }
  })
  if (record === undefined && existsSync(join(home.folder, 'data'))) {
    throw new Failure(
      `${home.record}, which holds the password of the database, is gone: put it back, or move ${home.folder} away to begin anew`,
    )
  }
  return record
}

// Written before the cluster is made: a cluster whose password nobody knows would be lost.
export function newRecord(home: PostgresHome): PostgresRecord {
  const blocked = isRoot() && !isPassableByOthers(home.folder)
  const folder = blocked ? join(systemFolder(home.installationId), home.name) : home.folder
  const record = { folder, port: 0, password: randomBytes(24).toString('base64url') }
  writeRecord(home, record)
  return record
}

// A folder beside the record is written relative to it, so that the whole may be moved.
export function writeRecord(home: PostgresHome, record: PostgresRecord): void {
  const inside = record.folder === home.folder
  writeJson(home.record, {
    ...record,
    folder: inside ? relative(join(home.record, '..'), record.folder) : record.folder,
  })
}
