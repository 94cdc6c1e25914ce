import { globSync } from 'node:fs'
import { spec } from 'node:test/reporters'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { prepareDataDir } from './services/installation/data-dir.ts'
import { Failure } from './services/terminal/failure.ts'
import { openTestInstallation, projectRoot } from './services/installation/installation.ts'
import type { Installation } from './services/installation/installation.ts'
import { withLock } from './services/installation/lock.ts'
import { createProgress, createRenderer } from './services/terminal/progress.ts'
import type { Progress } from './services/terminal/progress.ts'
import type { TestCounts } from './services/testing/run-test-files.ts'
import { runTestFiles } from './services/testing/run-test-files.ts'
import type { TestServices } from './services/testing/test-services.ts'
import {
  describeTestServices,
  startTestServices,
  stopTestServices,
} from './services/testing/test-services.ts'
import { listenForStop } from './yard/stop-signals.ts'

const folders = ['libs', 'apps', 'scripts', 'test']
const fileTimeoutMs = 600_000
const concurrency = 2
const interrupted = 130

/** Runs the tests of the repository against real services, which it starts and stops. */
export async function runTests(args: string[]): Promise<number> {
  const options = { name: { type: 'string', multiple: true } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const files = findTestFiles(projectRoot, positionals)
  if (files.length === 0)
    throw new Failure(
      `No test file has ${positionals.map((filter) => `"${filter}"`).join(' or ')} in its path`,
    )
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer().show)
  const signals = listenForStop()
  const turn = { waitMs: 0, what: 'Another ./yard test runs on this installation' }
  const counts = await withLock(installation.paths.testLock, turn, async () => {
    try {
      const services = await exclusively(installation, () =>
        startTestServices(installation, progress, signals.stop),
      )
      console.log(await describeTestServices(installation, services))
      return await runFiles({ files, names: values.name ?? [], services, stop: signals.stop })
    } catch (error) {
      if (!signals.stop.aborted) throw error
      return undefined
    } finally {
      await stop(installation, progress)
    }
  })
  if (counts === undefined || signals.stop.aborted) return interrupted
  console.log(closingLine(counts))
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0
}

export function findTestFiles(root: string, filters: readonly string[]): string[] {
  const patterns = folders.map((folder) => `${folder}/**/*.test.ts`)
  const found = globSync(patterns, {
    cwd: root,
    exclude: (path) => path === 'node_modules' || path.endsWith('/node_modules'),
  })
  return found
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .toSorted()
}

export const closingLine = ({ passed, failed, skipped }: TestCounts) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

type TestRun = { files: string[]; names: string[]; services: TestServices; stop: AbortSignal }

async function runFiles({ services, ...run }: TestRun): Promise<TestCounts> {
  setTestEnvironment(services)
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const events = runTestFiles({ ...run, root: projectRoot, concurrency, fileTimeoutMs, counts })
  // The reporter repeats all failures at the end.
  await pipeline(Readable.from(events), new spec(), process.stdout, { end: false })
  return counts
}

// The runner gives its own environment to the test files. What points at an installation must not reach them.
function setTestEnvironment({ databaseUrl, redisUrl, dockerHost }: TestServices): void {
  const hidden = /^(YARD_|DATABASE_URL|REDIS_URL|DOCKER_|NODE_TEST_CONTEXT)/
  for (const name of Object.keys(process.env)) if (hidden.test(name)) delete process.env[name]
  Object.assign(process.env, {
    TEST_DATABASE_URL: databaseUrl,
    TEST_REDIS_URL: redisUrl,
    TEST_DOCKER_HOST: dockerHost,
  })
}

const stop = (installation: Installation, progress: Progress) =>
  progress.step("Stopping the tests' services", () =>
    exclusively(installation, () => stopTestServices(installation)),
  )

const exclusively = <T>(installation: Installation, work: () => Promise<T>) =>
  withLock(
    installation.paths.lock,
    { waitMs: 180_000, what: 'Another ./yard works on this installation' },
    work,
  )
