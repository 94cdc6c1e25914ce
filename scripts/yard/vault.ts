import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { newId } from '@toolyard/contract/ids'
import { assertSchema } from '@toolyard/db/migrate'
import { openVault } from '@toolyard/vault/open-vault'
import { refuseUnseenKey } from '@toolyard/vault/refuse-unseen-key'
import { rotateDataKeys } from '@toolyard/vault/rotate-data-keys'
import { rotateMasterKey } from '@toolyard/vault/rotate-master-key'
import { VaultError } from '@toolyard/vault/vault-error'
import { withPool } from '../services/database/database.ts'
import { Failure } from '../services/terminal/failure.ts'
import { openInstallation } from '../services/installation/installation.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { withDatabase } from '../services/database/with-database.ts'
import type { Verb } from './arguments/run-verb.ts'
import { runVerb } from './arguments/run-verb.ts'

const verbs: Record<string, Verb> = {
  'new-key': {
    usage: '',
    about: 'print a new entry for YARD_SECRET_KEYS',
    load: async () => printNewKey,
  },
  rotate: {
    usage: '[--data-keys]',
    about: 'wrap the key of every tool with the first of the master keys: docs/ops/master-keys.md',
    details: ['  --data-keys  encrypt all settings anew, too'],
    load: async () => rotate,
  },
}

const operator = { actor: { kind: 'operator' } } as const

export const vault = (args: string[]): Promise<number> => runVerb('vault', verbs, args)

async function printNewKey(args: string[]): Promise<number> {
  parseArgs({ args, options: {} })
  console.log(`${newId()}:${randomBytes(32).toString('base64url')}`)
  return 0
}

async function rotate(args: string[]): Promise<number> {
  const options = { 'data-keys': { type: 'boolean', default: false } } as const
  const { values } = parseArgs({ args, options })
  const installation = openInstallation()
  const { secretKeys } = installation.config
  const progress = createProgress(createRenderer(process.stderr).show)
  return withDatabase(installation, progress, (url) =>
    withPool(url, async (pool) => {
      await assertSchema(pool)
      await refuseUnseenKey(pool, secretKeys).catch(explain)
      const opened = await openVault({ pool, secretKeys, dataDir: installation.dataDir }).catch(explain)
      const { current, rewrapped, unreadable, inUse } = await rotateMasterKey(opened, operator)
      console.log(`The keys of ${rewrapped} tools are wrapped anew, with ${current}.`)
      for (const { id, tools } of inUse) console.log(`  ${id}: needed by ${tools} tools`)
      for (const tool of unreadable) console.log(`  ${tool}: cannot be opened, and stays as it was`)
      if (!values['data-keys']) return unreadable.length === 0 ? 0 : 1
      const again = await rotateDataKeys(opened, operator)
      console.log(`The settings of ${again.rotated} tools are encrypted anew.`)
      return unreadable.length + again.unreadable.length === 0 ? 0 : 1
    }),
  )
}

function explain(error: unknown): never {
  throw error instanceof VaultError ? new Failure(error.message) : error
}
