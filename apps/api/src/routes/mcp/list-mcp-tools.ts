import type { McpTool } from '@toolyard/contract/function-schemas'
import { toMcpTool } from '@toolyard/contract/function-schemas'
import type { Manifest } from '@toolyard/contract/manifest'
import { platformTools, toolsShownMax } from './find-tools.ts'

const pageMax = 100

export type ToolPage = { tools: McpTool[]; nextCursor?: string }

/**
 * `all`: every tool, and the two that find and call others where there are more than a model should see; `find`: those
 * two alone. A tool of one's own comes before one of the platform's with the same name.
 */
export type ToolView = 'all' | 'find'

/** One page by name; undefined where the cursor is none of ours. */
export function listMcpTools(
  callable: readonly Manifest[],
  { view, cursor }: { view: ToolView; cursor: string | undefined },
): ToolPage | undefined {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString()
  if (cursor !== undefined && Buffer.from(after).toString('base64url') !== cursor) return undefined
  const shown = [...ownTools(callable, view), ...offeredPlatformTools(callable, view)]
    .filter(({ name }) => name > after)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const tools = shown.slice(0, pageMax).map((tool) => toMcpTool(tool))
  const last = tools.at(-1)
  if (last === undefined || shown.length <= pageMax) return { tools }
  return { tools, nextCursor: Buffer.from(last.name).toString('base64url') }
}

const ownTools = (callable: readonly Manifest[], view: ToolView) => (view === 'find' ? [] : callable)

/** The platform's tools that are listed, and can be called. */
export function offeredPlatformTools(callable: readonly Manifest[], view: ToolView) {
  if (view === 'all' && callable.length <= toolsShownMax) return []
  return platformTools.filter(({ name }) => !callable.some((own) => own.name === name))
}
