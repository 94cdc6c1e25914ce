import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ensureAdminKey } from '@toolyard/access/ensure-admin-key'
import { isAdminToken } from '@toolyard/access/is-admin-token'
import type { Pool } from '@toolyard/db/pool'
import { withPool } from './database.ts'
import { writeFileAtomic } from '../installation/json-file.ts'

// A database's first key exists once in clear: in a file that its owner alone can read. An installation may be moved
// from one database to another and back, so the file of the one waits as `admin.key.<id>` while the other is in use.

/** Whether the file holds a key that works on the database in use. */
export type AdminKey = 'in-file' | 'missing'

/** Makes the first key of a new database, else puts into place what there is of this one. The key is never printed. */
export async function provideAdminKey(url: string, file: string): Promise<AdminKey> {
  return withPool(url, async (pool) => {
    const made = await ensureAdminKey(pool)
    if (made !== undefined) {
      setAside(file)
      writeFileAtomic(file, `${made.token}\n`)
      return 'in-file'
    }
    const working = await findWorking(pool, [file, ...keptFiles(file)])
    if (working === undefined) return 'missing'
    if (working !== file) {
      setAside(file)
      renameSync(working, file)
    }
    return 'in-file'
  })
}

/** The keys of databases that were used before. */
export function removeKeptKeys(file: string): void {
  for (const kept of keptFiles(file)) rmSync(kept)
}

function setAside(file: string): void {
  if (!existsSync(file)) return
  const id = /^yk_([0-9a-z]{26})_/.exec(readFileSync(file, 'utf8'))?.[1]
  renameSync(file, `${file}.${id ?? 'old'}`)
}

function keptFiles(file: string): string[] {
  const folder = dirname(file)
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.filter((name) => name.startsWith(`${basename(file)}.`)).map((name) => join(folder, name))
}

async function findWorking(pool: Pool, files: string[]): Promise<string | undefined> {
  for (const file of files) {
    if (existsSync(file) && (await isAdminToken(pool, readFileSync(file, 'utf8').trim()))) return file
  }
  return undefined
}
