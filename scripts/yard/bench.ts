import { parseArgs } from 'node:util'
import { nearestWord } from '@toolyard/contract/nearest-word'
import { Failure } from '../services/terminal/failure.ts'
import { openTestInstallation } from '../services/installation/installation.ts'
import { prepareDataDir } from '../services/installation/data-dir.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { withScratchDatabase } from '../services/database/scratch-database.ts'
import { withEngine } from '../services/engine/with-engine.ts'
import { withUsage } from './arguments/with-usage.ts'
import type { Ground } from './benches.ts'
import { benches, longBenches } from './benches.ts'

const usage = './yard bench [NAME …] [--json]'
const about = [
  'measure on this machine: what is named, or all but those that take long',
  ...Object.keys(benches).map((name) => `  ${name}${longBenches.includes(name) ? ', which takes long' : ''}`),
].join('\n')

export const bench = (args: string[]): Promise<number> =>
  withUsage({ args, usage, about }, () => measureChosen(args))

/** Prints a table, or with --json one object with a member for each bench. */
async function measureChosen(args: string[]): Promise<number> {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  for (const name of positionals) refuseUnknown(name)
  const chosen = Object.entries(benches).filter(([name]) =>
    positionals.length === 0 ? !longBenches.includes(name) : positionals.includes(name),
  )
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer(process.stderr).show)
  const results: Record<string, object> = {}
  const rows: (readonly [string, string])[] = []
  const faults: string[] = []
  for (const [name, measure] of chosen) {
    const title = `Measuring ${name}`
    const ground: Ground = {
      withDatabase: (work) =>
        withScratchDatabase(installation, progress, (pool, url) =>
          progress.step(title, () => work(pool, url)),
        ),
      withEngine: (work) =>
        withEngine(installation, progress, (dockerHost) => progress.step(title, () => work(dockerHost))),
      progress,
    }
    const measured = await measure(ground)
    results[name] = measured.result
    rows.push(...measured.rows)
    faults.push(...(measured.faults ?? []))
  }
  const width = Math.max(...rows.map(([what]) => what.length))
  console.log(
    values.json
      ? JSON.stringify(results)
      : rows.map(([what, value]) => `${what.padEnd(width)}  ${value}`).join('\n'),
  )
  if (faults.length > 0) throw new Failure(`Over its budget: ${faults.join('; ')}`)
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
