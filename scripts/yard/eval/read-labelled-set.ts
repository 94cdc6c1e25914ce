import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ToolText } from '@toolyard/relevance/tool-text'
import { codeOf, Failure } from '../../services/terminal/failure.ts'

/** A query and the tools that are right for it; none: no tool of the set is. */
export type LabelledQuery = { query: string; tools: string[] }

export type LabelledSet = { tools: ToolText[]; queries: LabelledQuery[]; unanswerable: LabelledQuery[] }

const toolSchema = z.object({
  name: z.string().min(1),
  description: z.string(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        description: z
          .string()
          .nullish()
          .transform((text) => text ?? ''),
      }),
    )
    .default([]),
  examples: z.array(z.string()).default([]),
})
const querySchema = z.object({ query: z.string().min(1), tools: z.array(z.string()) })

/** Of a folder with `tools.json`, `queries.jsonl`, and perhaps `irrelevance.jsonl`. */
export function readLabelledSet(folder: string, queriesMax: number): LabelledSet {
  const toolsFile = join(folder, 'tools.json')
  const tools = parseAs(z.array(toolSchema), read(toolsFile), toolsFile)
  const known = new Set(tools.map(({ name }) => name))
  const queries = readLines(join(folder, 'queries.jsonl')).filter(({ tools: right }) =>
    right.some((name) => known.has(name)),
  )
  return {
    tools,
    queries: queries.slice(0, queriesMax),
    unanswerable: readLines(join(folder, 'irrelevance.jsonl'), '').slice(0, queriesMax),
  }
}

function readLines(path: string, otherwise?: string): LabelledQuery[] {
  const lines = read(path, otherwise).split('\n')
  return lines.flatMap((line, i) =>
    line.trim() === '' ? [] : [parseAs(querySchema, line, `${path}:${i + 1}`)],
  )
}

function parseAs<T>(schema: z.ZodType<T>, text: string, where: string): T {
  const parsed = schema.safeParse(readJson(text, where))
  if (parsed.success) return parsed.data
  throw new Failure(`${where} is not as it should be: ${z.prettifyError(parsed.error)}`)
}

function readJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure(`${where} is no JSON`)
  }
}

function read(path: string, otherwise?: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && otherwise !== undefined) return otherwise
    throw new Failure(`${path} cannot be read; name a folder with tools.json and queries.jsonl by --data`)
  }
}
