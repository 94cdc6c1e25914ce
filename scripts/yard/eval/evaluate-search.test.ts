import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { z } from 'zod'

const things = {
  weather: 'the weather of the next days, rain and temperature, for a place',
  currency: 'what an amount of money is worth in another currency',
  recipe: 'recipes by what is in the kitchen',
  flight: 'flights between two airports and what they cost',
  translate: 'a text in another language',
  image: 'pictures from a description',
  calendar: 'appointments and reminders of the user',
  stocks: 'prices of shares on the stock market',
  music: 'songs and playlists by mood',
  jobs: 'vacancies for a profession near a city',
  news: 'what newspapers wrote today',
  maths: 'solutions of equations',
}
const figures = z.object({ queries: z.number(), top1: z.number(), top5: z.number(), mrr: z.number() })
const percentiles = z.object({ p50: z.number().positive(), p95: z.number().positive() })
const measured = z.object({
  tools: z.literal(12),
  cold: figures,
  coldFew: z.null(),
  learning: z.array(z.never()),
  refusals: z.tuple([z.object({ tools: z.literal(12), recall: z.number(), kept: z.number() })]),
  times: z.object({ tools: z.literal(1_000), cores: z.number(), totalMs: percentiles }),
})

test('a small set is measured as a whole: what it is too small for is left out', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'labelled-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tools = Object.entries(things).map(([name, does]) => ({ name, description: `Finds ${does}` }))
  const queries = Object.entries(things).map(([name, does]) => ({ query: `Show me ${does}`, tools: [name] }))
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(tools))
  writeFileSync(join(folder, 'queries.jsonl'), queries.map((one) => JSON.stringify(one)).join('\n'))
  const yard = join(import.meta.dirname, '../../yard.ts')
  const args = [yard, 'eval', 'search', '--data', folder, '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 90_000 })
  const { cold, times } = measured.parse(JSON.parse(stdout))
  assert.deepEqual([cold.queries, cold.top1, cold.mrr], [12, 100, 100])
  assert.ok(times.totalMs.p50 <= times.totalMs.p95)
})
