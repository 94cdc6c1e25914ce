import { parseArgs } from 'node:util'
import { benchWarmKey } from '@toolyard/access/bench/warm-key'
import { benchWarmRequest } from '@toolyard/api/bench/warm-request'
import { nearestWord } from '@toolyard/config/nearest-word'
import type { Pool } from '@toolyard/db/pool'
import { Failure } from '../services/failure.ts'
import { openTestInstallation } from '../services/installation.ts'
import { prepareDataDir } from '../services/data-dir.ts'
import { createProgress, createRenderer } from '../services/progress.ts'
import { withScratchDatabase } from '../services/scratch-database.ts'

/** One measured thing: its rows for a person, and everything for a program. */
type Measured = { rows: readonly (readonly [what: string, value: string])[]; result: object }

const benches: Record<string, (pool: Pool) => Promise<Measured>> = {
  'warm-key': async (pool) => {
    const result = await benchWarmKey(pool)
    const { mean, p50, p99 } = result.perCallMicros
    const micros = (value: number) => `${value.toFixed(1)} µs`
    return {
      result,
      rows: [
        ['verify a warm key, mean', micros(mean)],
        ['verify a warm key, p50', micros(p50)],
        ['verify a warm key, p99', micros(p99)],
      ],
    }
  },
  'warm-request': async (pool) => {
    const result = await benchWarmRequest(pool)
    const { guard, guarded } = result.meanMicros
    return {
      result,
      rows: [
        ['what a warm key adds to a request, mean', `${guard.toFixed(1)} µs`],
        ['a request with a warm key, without network, mean', `${guarded.toFixed(1)} µs`],
      ],
    }
  },
}

/** Measures on this machine. Prints a table, or with --json one object with a member for each bench. */
export async function bench(args: string[]): Promise<number> {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  for (const name of positionals) refuseUnknown(name)
  const chosen = Object.entries(benches).filter(
    ([name]) => positionals.length === 0 || positionals.includes(name),
  )
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer(process.stderr).show)
  const results: Record<string, object> = {}
  const rows: (readonly [string, string])[] = []
  for (const [name, measure] of chosen) {
    const measured = await withScratchDatabase(installation, progress, (pool) =>
      progress.step(`Measuring ${name}`, () => measure(pool)),
    )
    results[name] = measured.result
    rows.push(...measured.rows)
  }
  const width = Math.max(...rows.map(([what]) => what.length))
  console.log(
    values.json
      ? JSON.stringify(results)
      : rows.map(([what, value]) => `${what.padEnd(width)}  ${value}`).join('\n'),
  )
  return 0
}

function refuseUnknown(name: string): void {
  if (Object.hasOwn(benches, name)) return
  const nearest = nearestWord(name, Object.keys(benches))
  const known = Object.keys(benches).join(', ')
  throw new Failure(
    `There is no bench "${name}"${nearest === undefined ? '' : `; did you mean ${nearest}`}? They are: ${known}`,
  )
}
