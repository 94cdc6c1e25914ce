import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type WitnessTool = {
  name: string
  /** See witness.c. */
  mode: 'run' | 'fail' | 'flaky' | 'hang' | 'nothing'
  constraints?: { timeout_seconds?: number; retries?: number; rerun?: boolean; concurrency?: number }
  sandbox?: { reuse?: number; stock?: number; network?: 'none' }
  /** Started by the clock, also while it runs. */
  schedule?: string
}

/** Folders of tools that tell the server at this port what they do. They reach it over the host's own network. */
export async function writeWitnessTools(
  folder: string,
  port: number,
  tools: readonly WitnessTool[],
): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), 'toolyard-witness-'))
  try {
    const program = join(made, 'witness')
    const source = join(import.meta.dirname, 'witness.c')
    await promisify(execFile)('cc', ['-static', '-O1', '-o', program, source])
    for (const tool of tools) {
      const home = join(folder, tool.name)
      await mkdir(home, { recursive: true })
      await cp(program, join(home, 'witness'))
      const entrypoint = JSON.stringify(['/witness', String(port), tool.mode])
      await writeFile(
        join(home, 'Dockerfile'),
        `FROM scratch\nCOPY witness /witness\nENTRYPOINT ${entrypoint}\n`,
      )
      await writeFile(join(home, 'manifest.json'), JSON.stringify(manifestOf(tool), null, 2))
    }
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

const count = { type: 'integer', description: 'See witness.c', default: 0 }

const manifestOf = ({ name, mode, constraints = {}, sandbox = {}, schedule }: WitnessTool) => ({
  name,
  description: `A tool of the chaos and of the bench (${mode})`,
  trigger:
    schedule === undefined
      ? { type: 'on_demand' }
      : { type: 'cron', schedule, prompt: 'The clock rang:', overlap: 'allow' },
  parameters: { ms: count, failures: count },
  returns: { text: { type: 'string' } },
  constraints,
  sandbox: { memory: '32m', network: 'host', ...sandbox },
})
