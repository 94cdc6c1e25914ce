import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { packContext } from '../src/folder/pack-context.ts'
import { scanTools } from '../src/folder/scan-tools.ts'

export type ScanBench = {
  tools: number
  files: number
  bytes: number
  /** The first scan of a process, as at a start; the files are in the system's memory, having just been written. */
  coldMs: number
  /** The median of those after it. */
  warmMs: number
  /** All of them as archives, one after another. */
  packMs: number
}

const warmScans = 9
const settleMs = 200

/** Reads generated tools of the usual shape: a manifest, a Dockerfile, a runner, a library of ten files. */
export async function benchScan(tools = 200): Promise<ScanBench> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-bench-scan-'))
  try {
    for (let index = 0; index < tools; index++) await writeTool(dir, `tool_${index}`)
    // Folders that were written just now are waited for; that would be measured instead.
    await delay(settleMs)
    const [coldMs, scan] = await time(() => scanTools([dir], { extra: ['bench'], settleMs }))
    if (scan.tools.length !== tools) throw new Error(JSON.stringify(scan.faults[0] ?? scan.unsettled[0]))
    const warm: number[] = []
    for (let round = 0; round < warmScans; round++)
      warm.push((await time(() => scanTools([dir], { extra: ['bench'], settleMs })))[0])
    const [packMs] = await time(async () => {
      for (const tool of scan.tools) await buffer(packContext(tool))
    })
    const files = scan.tools.flatMap(({ entries }) => entries).filter((entry) => entry.type === 'file')
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const warmMs = warm.toSorted((a, b) => a - b)[Math.floor(warmScans / 2)] ?? Number.NaN
    return { tools, files: files.length, bytes, coldMs, warmMs, packMs }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function writeTool(tools: string, name: string): Promise<void> {
  const dir = join(tools, name)
  await mkdir(join(dir, 'lib'), { recursive: true })
  await writeFile(join(dir, 'manifest.json'), JSON.stringify(manifestOf(name), null, 2))
  await writeFile(join(dir, 'Dockerfile'), 'FROM scratch\nCOPY . /\nENTRYPOINT ["/run"]\n')
  await writeFile(join(dir, '.dockerignore'), '**/*.md\n.git\nnode_modules\n')
  await writeFile(join(dir, 'run'), `#!/bin/sh\n# ${name}\n${'echo\n'.repeat(400)}`, { mode: 0o755 })
  for (let index = 0; index < 10; index++)
    await writeFile(join(dir, 'lib', `part_${index}.js`), `// ${name}\n`.repeat(500))
}

function manifestOf(name: string): object {
  const parameter = { type: 'string', description: 'What it is about.', required: false }
  return {
    name,
    description: 'A tool that was generated to be read.',
    trigger: { type: 'on_demand' },
    parameters: Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`parameter_${index}`, parameter]),
    ),
    returns: { text: 'What came of it.' },
    config_schema: { api_key: { description: 'A key.', secret: true, required: true } },
    examples: [{ description: 'An example.', params: { parameter_0: 'x' } }],
  }
}

async function time<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const beganAtMs = performance.now()
  const result = await work()
  return [performance.now() - beganAtMs, result]
}

if (import.meta.main) console.log(JSON.stringify(await benchScan(), null, 2))
