import type { Deps, ReadyJob } from '../src/after-commit.ts'
import { createSubmitter } from '../src/submitter.ts'

export type BenchDeps = Deps & { jobs: ReadyJob[] }

/** As many callers as `concurrency`, each with one call under way. Answers how long all of them took. */
export async function submitMany(
  deps: BenchDeps,
  { count, concurrency, tools }: { count: number; concurrency: number; tools: readonly string[] },
): Promise<number> {
  const { submit } = createSubmitter(deps)
  let sent = 0
  async function call(): Promise<void> {
    while (sent < count) {
      const tool = tools[sent % tools.length] ?? ''
      sent += 1
      const answer = await submit({
        tool,
        topic: `topic ${sent % 20}`,
        keyId: 'bench',
        params: { text: 'x'.repeat(200) },
        telemetry: {},
      })
      if (answer.kind === 'refused') throw new Error(`refused: ${answer.code}`)
    }
  }
  const beganAtMs = performance.now()
  await Promise.all(Array.from({ length: concurrency }, call))
  return performance.now() - beganAtMs
}
