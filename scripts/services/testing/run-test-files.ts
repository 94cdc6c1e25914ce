import { join } from 'node:path'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'

// Node's own runner, one run for each file, so that a file which never ends can be ended and counts as a failure.

export type TestCounts = { passed: number; failed: number; skipped: number }

type TestFail = Extract<TestEvent, { type: 'test:fail' }>

export type TestRunOptions = {
  root: string
  files: readonly string[]
  /** Only the tests with one of these in their name. */
  names: readonly string[]
  concurrency: number
  fileTimeoutMs: number
  stop: AbortSignal
  /** Added to while the events go by. */
  counts: TestCounts
}

/** The events of all files as of one run, those of a file together, in the order in which the files end. */
export async function* runTestFiles(options: TestRunOptions): AsyncGenerator<TestEvent> {
  const waiting = [...options.files]
  const running = new Map<string, Promise<{ file: string; events: TestEvent[] }>>()
  const startNext = () => {
    const file = options.stop.aborted ? undefined : waiting.shift()
    if (file !== undefined) running.set(file, runFile(file, options))
  }
  for (let lane = 0; lane < options.concurrency; lane++) startNext()
  while (running.size > 0) {
    const { file, events } = await Promise.race(running.values())
    running.delete(file)
    startNext()
    for (const event of events) {
      countEvent(options.counts, event, join(options.root, file))
      if (!isOfOneRun(event)) yield event
    }
  }
}

async function runFile(
  file: string,
  options: TestRunOptions,
): Promise<{ file: string; events: TestEvent[] }> {
  const { root, names, stop, fileTimeoutMs } = options
  const tooLong = new AbortController()
  const timer = setTimeout(() => {
    tooLong.abort(
      new Error(
        `${file} did not end within ${fileTimeoutMs / 1_000} s: something that it opened is not closed`,
      ),
    )
  }, fileTimeoutMs)
  const stream = run({
    cwd: root,
    files: [file],
    isolation: 'process',
    signal: AbortSignal.any([stop, tooLong.signal]),
    ...(names.length > 0 ? { testNamePatterns: names } : {}),
  })
  const events: TestEvent[] = []
  // safe because these are what node documents the stream to give
  for await (const event of stream) events.push(event as TestEvent)
  clearTimeout(timer)
  return { file, events: names.length > 0 ? events : withEmptyFileAsFailure(events, file) }
}

/** A file that holds no test passes in node's eyes, under its own name. It is a mistake. */
function withEmptyFileAsFailure(events: TestEvent[], file: string): TestEvent[] {
  return events.map((event): TestEvent => {
    if (event.type !== 'test:pass' || !isFileItself(event.data, file)) return event
    const error = new Error(`${file} holds no test`)
    const failed: TestFail = {
      type: 'test:fail',
      data: {
        ...event.data,
        details: { ...event.data.details, error: Object.assign(error, { cause: error }) },
      },
    }
    return failed
  })
}

function countEvent(counts: TestCounts, event: TestEvent, path: string): void {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return
  const { data } = event
  if (data.details.type === 'suite') return
  if (isLeftOut(data.skip) || isLeftOut(data.todo)) counts.skipped++
  else if (event.type === 'test:fail') counts.failed++
  else if (!isFileItself(data, path)) counts.passed++
}

// `true` or the reason, which may be an empty text.
const isLeftOut = (mark: string | boolean | undefined) => mark !== undefined && mark !== false

const isFileItself = (data: { name: string; nesting: number }, file: string) =>
  data.nesting === 0 &&
  data.name.endsWith('.test.ts') &&
  (data.name.endsWith(file) || file.endsWith(data.name))

// Sums of a single file, which would look like those of the whole.
const isOfOneRun = (event: TestEvent) =>
  event.type === 'test:summary' ||
  (event.type === 'test:diagnostic' &&
    /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(event.data.message))
