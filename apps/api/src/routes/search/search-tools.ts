import { createRoute, z } from '@hono/zod-openapi'
import type { AccessKey } from '@toolyard/access/access-key'
import type { Catalog } from '@toolyard/catalog/create-catalog'
import type { FoundTool, SearchBody } from '@toolyard/contract/search'
import { searchAnswerShape, searchBody, searchHeadShape } from '@toolyard/contract/search'
import type { Pool } from '@toolyard/db/pool'
import { resolveTopic } from '@toolyard/invocations/resolve-topic'
import type { ToolSearch } from '@toolyard/relevance/create-tool-search'
import { storedKeys } from '@toolyard/vault/stored-keys'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { functionList, toFunctionList } from '../tools/function-list.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { toTrigger } from '../tools/to-tool-shape.ts'
import { explainHit, reasonOf } from './explain-hit.ts'
import type { Candidate } from './find-candidates.ts'
import { findCandidates } from './find-candidates.ts'

const answer = z.union([
  searchAnswerShape.meta({ id: 'SearchAnswer' }),
  searchHeadShape.extend(functionList.pick({ tools: true }).shape).meta({ id: 'FunctionSearchAnswer' }),
])

const postSearch = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tools/search',
    tags: ['tools'],
    ...guarded(guard, 'tools:read'),
    summary: 'The tools that fit what is needed, the best first',
    description:
      'Scope `tools:read`. By what the tools say, by what calls that searches led to have taught, and by the memory: see docs/search.md. Give `search_id` to the calls that come of it. `explain` tells every number. With `format` the tools are function schemas.',
    request: { body: { required: true, content: { 'application/json': { schema: searchBody } } } },
    responses: {
      ...jsonAnswer('The best, though none may fit', answer),
      ...problems(...refusals, ...bodyRefusals, 'topic_required', 'not_found'),
    },
  })

export type SearchToolsDeps = { pool: Pool; catalog: Catalog; toolSearch: ToolSearch; guard: Guard }

export function addSearchToolsRoute(api: Api, deps: SearchToolsDeps): void {
  api.openapi(postSearch(deps.guard), async (c) => {
    const { key } = callOf(c).actor
    const body = c.req.valid('json')
    const { head, tools } = await searchTools(deps, key, body)
    c.get('event').set({ search_id: head.search_id })
    if (body.format === undefined) return c.json({ ...head, tools: tools.map(({ shape }) => shape) }, 200)
    const described = tools.map(({ manifest }) => manifest)
    return c.json({ ...head, tools: toFunctionList(described, body.format).tools }, 200)
  })
}

async function searchTools({ pool, catalog, toolSearch }: SearchToolsDeps, key: AccessKey, body: SearchBody) {
  const { query, limit, explain } = body
  const topic = resolveTopic(key, body.topic)
  const [view, stored] = await Promise.all([catalog.view(), storedKeys(pool)])
  const candidates = findCandidates({ view, key, stored }, body)
  const found = await toolSearch.search({ key, topic, query, view, among: [...candidates.keys()] })
  const { searchId, nothingFits, isSemantic, standings } = found
  const searchedBy = isSemantic ? ('meaning and words' as const) : ('words' as const)
  return {
    head: { search_id: searchId, nothing_fits: nothingFits, searched_by: searchedBy },
    tools: found.tools.slice(0, limit).flatMap((hit) => {
      const candidate = candidates.get(hit.tool)
      if (candidate === undefined) return []
      const { relevance, memory, final } = hit
      const reason = reasonOf(hit, standings, topic)
      const explained = explain ? { explain: explainHit(hit, standings, topic) } : {}
      const shape = { ...describe(candidate), relevance, memory, final, reason, ...explained }
      return [{ manifest: candidate.manifest, shape }]
    }),
  }
}

function describe({
  manifest,
  status,
}: Candidate): Pick<FoundTool, 'name' | 'description' | 'category' | 'status' | 'trigger' | 'parameters'> {
  const { name, description, category, parameters } = manifest
  return { name, description, category: category ?? null, status, trigger: toTrigger(manifest), parameters }
}
