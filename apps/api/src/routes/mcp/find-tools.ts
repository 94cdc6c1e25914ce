import type { AccessKey } from '@toolyard/access/access-key'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { coerceParams } from '@toolyard/contract/coerce-params'
import type { DescribedTool } from '@toolyard/contract/function-schemas'
import { toMcpTool } from '@toolyard/contract/function-schemas'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Json, Parameters } from '@toolyard/contract/parameters'
import { parameters } from '@toolyard/contract/parameters'
import { queryFault } from '@toolyard/contract/search'
import { resolveTopic } from '@toolyard/invocations/resolve-topic'
import type { ToolSearch } from '@toolyard/relevance/create-tool-search'

// Beyond about so many a model chooses worse, and each costs it context.
export const toolsShownMax = 50

export const findToolsName = 'find_tools'
export const callToolName = 'call_tool'

const findParameters: Parameters = parameters.parse({
  query: { type: 'string', description: 'What is to be done, in a few words', required: true },
  limit: { type: 'integer', description: 'How many tools at most', minimum: 1, maximum: 20, default: 5 },
})

export const callParameters: Parameters = parameters.parse({
  name: { type: 'string', description: `A name that ${findToolsName} gave`, required: true },
  arguments: { type: 'object', description: 'As its inputSchema says' },
  search_id: { type: 'string', description: `The one that ${findToolsName} gave: so it learns` },
})

/** How a model reaches more tools than it should be shown: it asks for some, and calls them by name. */
export const platformTools: readonly DescribedTool[] = [
  {
    name: findToolsName,
    description: `Finds the tools for a task. Answers with their names, descriptions and input schemas; ${callToolName} calls one.`,
    parameters: findParameters,
  },
  {
    name: callToolName,
    description: `Calls a tool that ${findToolsName} has found.`,
    parameters: callParameters,
  },
]

type Found = { search_id: string; nothing_fits: boolean; tools: ReturnType<typeof toMcpTool>[] }

export type Finding = {
  key: AccessKey
  /** Of the calls that will come of it. */
  topic: string | undefined
  given: Record<string, Json>
  view: CatalogView
  /** Those that may be found. */
  tools: readonly Manifest[]
}

export async function findTools(
  toolSearch: ToolSearch,
  { key, topic, given, view, tools }: Finding,
): Promise<Found | { fault: string }> {
  const coerced = coerceParams(findParameters, withoutEmpty(given))
  if ('faults' in coerced)
    return { fault: coerced.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n') }
  const { query: asked } = coerced.params
  const query = typeof asked === 'string' ? asked : ''
  const fault = queryFault(query)
  if (fault !== undefined) return { fault: `/query ${fault}` }
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const found = await toolSearch.search({
    key,
    topic: resolveTopic(key, topic),
    query,
    view,
    among: [...byName.keys()],
  })
  const best = found.tools.slice(0, Number(coerced.params['limit']))
  return {
    search_id: found.searchId,
    nothing_fits: found.nothingFits,
    tools: best.flatMap(({ tool: name }) => {
      const tool = byName.get(name)
      return tool === undefined ? [] : [toMcpTool(tool)]
    }),
  }
}

/** Models write an empty text for what they leave out. */
export const withoutEmpty = (given: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
