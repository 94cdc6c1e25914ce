import type { ReadResourceResult } from '@modelcontextprotocol/server'
import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { AccessKey } from '@toolyard/access/access-key'
import { requireScope } from '@toolyard/access/require-scope'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import { getRaw } from '@toolyard/invocations/get-raw'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'
import { listInvocations } from '@toolyard/invocations/list'
import { resultUri, stderrUri } from './to-tool-result.ts'

// What an invocation has left, as resources. The rules are those of the routes about invocations.

const uriPattern = /^toolyard:\/\/invocations\/([^/?#]{1,100})\/(result|stderr)$/

export const resourceTemplates = [
  {
    name: 'invocation_result',
    uriTemplate: resultUri('{id}'),
    description: 'How an invocation stands, and its result or failure',
    mimeType: 'application/json',
  },
  {
    name: 'invocation_stderr',
    uriTemplate: stderrUri('{id}'),
    description: 'The end of what the tool wrote to stderr; needs the scope invocations:raw',
    mimeType: 'text/plain',
  },
]

export async function listResources(pool: Pool, key: AccessKey, cursor: string | undefined) {
  requireScope(key, 'invocations:read')
  const { invocations, nextCursor } = await listInvocations(pool, { kind: 'key', key }, { cursor })
  const resources = invocations.map(({ id, tool, status, createdAt }) => ({
    uri: resultUri(id),
    name: `${tool} ${id}`,
    description: `${tool} at ${createdAt.toISOString()}: ${status}`,
    mimeType: 'application/json',
  }))
  return { resources, ...(nextCursor === null ? {} : { nextCursor }) }
}

export async function readResource(pool: Pool, key: AccessKey, uri: string): Promise<ReadResourceResult> {
  const [, id, part] = uriPattern.exec(uri) ?? []
  if (id === undefined) throw new ResourceNotFoundError(uri)
  requireScope(key, 'invocations:read')
  if (part === 'stderr') requireScope(key, 'invocations:raw')
  try {
    return { contents: [await readPart(pool, { key, uri, id, part })] }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw new ResourceNotFoundError(uri)
    throw error
  }
}

type Part = { key: AccessKey; uri: string; id: string; part: string | undefined }

async function readPart(pool: Pool, { key, uri, id, part }: Part) {
  const actor = { kind: 'key', key } as const
  if (part === 'stderr') {
    const raw = await getRaw(pool, actor, id)
    if (raw === undefined) throw new ResourceNotFoundError(uri)
    return { uri, mimeType: 'text/plain', text: raw.stderrTail.toString('utf8') }
  }
  const shape = toInvocationShape(await getInvocation(pool, actor, id))
  return { uri, mimeType: 'application/json', text: JSON.stringify(shape) }
}
