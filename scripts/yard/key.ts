import { parseArgs } from 'node:util'
import { createKey } from '@toolyard/access/create-key'
import { listKeys } from '@toolyard/access/list-keys'
import { revokeKey } from '@toolyard/access/revoke-key'
import { newKeyBody } from '@toolyard/contract/keys'
import { scopes } from '@toolyard/contract/scopes'
import { assertSchema } from '@toolyard/db/migrate'
import type { Pool } from '@toolyard/db/pool'
import { withPool } from '../services/database/database.ts'
import { openInstallation } from '../services/installation/installation.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { withDatabase } from '../services/database/with-database.ts'
import { onlyWord } from './arguments/read-arguments.ts'
import type { Verb } from './arguments/run-verb.ts'
import { runVerb } from './arguments/run-verb.ts'
import { UsageFault } from './arguments/usage-fault.ts'

// Keys by the person at the machine, who needs none: who can read the database may make keys.

const verbs: Record<string, Verb> = {
  create: {
    usage:
      '--name NAME (--scope SCOPE … | --scope all) [--topic TOPIC …] [--tool TOOL …] [--expires 2030-01-01T00:00:00Z]',
    about: 'make a key, and print it this once',
    details: [
      '  --topic, --tool  bind it to these: it sees and calls nothing else',
      `Scopes: ${scopes.join(', ')}`,
    ],
    load: async () => (args) => withKeys(create(args)),
  },
  list: {
    usage: '[--json]',
    about: 'all keys, newest first, revoked and expired ones too',
    load: async () => (args) => withKeys(list(args)),
  },
  revoke: {
    usage: 'ID',
    about: 'end a key for good',
    load: async () => (args) => withKeys(revoke(args)),
  },
}

const operator = { actor: { kind: 'operator' } } as const
const pageSize = 200

export const key = (args: string[]): Promise<number> => runVerb('key', verbs, args)

function withKeys(run: (pool: Pool) => Promise<number>): Promise<number> {
  // Progress goes to stderr: stdout is the key, for a script to take.
  const progress = createProgress(createRenderer(process.stderr).show)
  return withDatabase(openInstallation(), progress, (url) =>
    withPool(url, async (pool) => {
      await assertSchema(pool)
      return run(pool)
    }),
  )
}

function create(args: string[]): (pool: Pool) => Promise<number> {
  const many = { type: 'string', multiple: true } as const
  const { values } = parseArgs({
    args,
    options: { name: { type: 'string' }, scope: many, topic: many, tool: many, expires: { type: 'string' } },
  })
  const wanted = values.scope?.flatMap((words) => words.split(','))
  const body = newKeyBody.safeParse({
    name: values.name,
    scopes: wanted?.includes('all') ? [...scopes] : wanted,
    topics: values.topic,
    tools: values.tool,
    expires_at: values.expires,
  })
  if (!body.success) {
    const faults = body.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
    throw new UsageFault(`the key cannot be made:\n${faults.join('\n')}`)
  }
  return async (pool) => {
    const made = await createKey(pool, operator, body.data)
    console.log(made.token)
    console.error(
      `Made the key ${made.key.id} "${made.key.name}". It is shown this once and cannot be read again.`,
    )
    return 0
  }
}

function list(args: string[]): (pool: Pool) => Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  return async (pool) => {
    for (let cursor: string | undefined; ;) {
      const { keys, nextCursor } = await listKeys(pool, operator.actor, { cursor, limit: pageSize })
      for (const entry of keys) console.log(values.json ? JSON.stringify(entry) : describeKey(entry))
      if (nextCursor === null) return 0
      cursor = nextCursor
    }
  }
}

function revoke(args: string[]): (pool: Pool) => Promise<number> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true })
  const id = onlyWord(positionals, 'ID')
  return async (pool) => {
    const revoked = await revokeKey(pool, operator, id)
    console.log(`Revoked ${revoked.id} "${revoked.name}"; no process honours it after 2 seconds.`)
    return 0
  }
}

type ListedKey = Awaited<ReturnType<typeof listKeys>>['keys'][number]

function describeKey({ id, name, scopes: granted, topics, tools, expiresAt, revokedAt }: ListedKey): string {
  const state =
    revokedAt !== null
      ? `revoked ${revokedAt.toISOString()}`
      : expiresAt !== null
        ? `until ${expiresAt.toISOString()}`
        : 'valid'
  const bound = [
    ...(topics === null ? [] : [`topics ${topics.join(',')}`]),
    ...(tools === null ? [] : [`tools ${tools.join(',')}`]),
  ]
  return [id, state, JSON.stringify(name), granted.join(','), ...bound].join('  ')
}
