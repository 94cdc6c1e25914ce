import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type Docker from 'dockerode'
import { createDockerSandboxes } from '../src/docker/create-docker-sandboxes.ts'
import { openEngine } from '../src/docker/open-engine.ts'
import { buildProbeTool } from '../src/fixtures/probe-image.ts'
import { probeSpec, strictPolicy } from '../src/fixtures/probe-spec.ts'
import type { Outcome } from '../src/outcome.ts'
import type { RunRequest, SandboxSpec, Sandboxes } from '../src/sandboxes.ts'

// Runs of every ending, in fresh and in reused sandboxes, and what is left of them in the engine, on the machine and in
// this process. Here, beside the probe and the measuring, so that a test and a command can both import it.

export type MixedOptions = {
  dockerHost: string
  fresh: number
  reused: number
  concurrency: number
  onProgress?: (done: number, of: number) => void
}

export type MixedReport = {
  runs: number
  endings: Record<string, number>
  /** Runs that did not end as they had to. */
  wrong: string[]
  left: { containers: number; zombies: number; volumes: number }
  /** After a collection: when a quarter of the runs was over, and at the end. */
  heldBytes: { atQuarter: number; atEnd: number }
  seconds: number
}

type Course = { kind: Outcome['kind']; payload: string; stdout: string; change?: Partial<RunRequest> }

const mebibyte = 1_048_576
const capBytes = 65_536
/** In a reused sandbox most runs end by themselves, or there would be nothing to reuse. */
const roughEvery = 25

export async function runMixed(options: MixedOptions): Promise<MixedReport> {
  const docker = openEngine(options.dockerHost)
  const instance = `mixed-${randomUUID()}`
  const stuck: string[] = []
  const sandboxes = createDockerSandboxes({
    dockerHost: options.dockerHost,
    instance,
    worker: 'mixed',
    policy: strictPolicy,
    onStuck: ({ detail }) => stuck.push(detail),
  })
  const fresh = probeSpec(await buildProbeTool(docker))
  const before = { zombies: listZombies(), volumes: await countVolumes(docker) }
  const startedAt = performance.now()
  const ran = await runAll(sandboxes, fresh, options)
  await sandboxes.close()
  const filters = { label: [`toolyard.instance=${instance}`] }
  const left = {
    containers: (await docker.listContainers({ all: true, filters })).length,
    zombies: await unburied(before.zombies),
    volumes: (await countVolumes(docker)) - before.volumes,
  }
  const seconds = (performance.now() - startedAt) / 1_000
  return { runs: options.fresh + options.reused, ...ran, wrong: [...ran.wrong, ...stuck], left, seconds }
}

async function runAll(sandboxes: Sandboxes, spec: SandboxSpec, options: MixedOptions) {
  const { fresh, reused, concurrency, onProgress } = options
  const total = fresh + reused
  const endings: Record<string, number> = {}
  const wrong: string[] = []
  const heldBytes = { atQuarter: 0, atEnd: 0 }
  let next = 0
  let done = 0
  const lane = async (topic: string) => {
    for (let turn = next++; turn < total; turn = next++) {
      // Fresh ones are spread evenly among the others.
      const isFresh = Math.floor(((turn + 1) * fresh) / total) > Math.floor((turn * fresh) / total)
      const course = isFresh || turn % roughEvery === 0 ? anyCourse() : ownCourse(turn)
      const given = isFresh ? spec : { ...spec, reuse: 1_000 }
      const { ending, fault } = await runOne(sandboxes, given, topic, course)
      endings[ending] = (endings[ending] ?? 0) + 1
      if (fault !== undefined) wrong.push(fault)
      done++
      onProgress?.(done, total)
      if (done === Math.ceil(total / 4)) heldBytes.atQuarter = heldAfterCollection()
    }
  }
  let rough = 0
  const anyCourse = () => courses(rough)[rough++ % courses(0).length] ?? ownCourse(rough)
  const ownCourse = (turn: number) => courses(turn)[turn % 2] ?? ok(turn)
  await Promise.all(Array.from({ length: concurrency }, (_, index) => lane(`lane ${index}`)))
  heldBytes.atEnd = heldAfterCollection()
  return { endings, wrong, heldBytes }
}

const ok = (turn: number): Course => ({ kind: 'exited', payload: `print ${turn}`, stdout: String(turn) })

/** Every way to end; the first two by itself. */
const courses = (turn: number): Course[] => [
  ok(turn),
  { kind: 'exited', payload: 'exit 3', stdout: '' },
  { kind: 'timed_out', payload: 'sleep 60000', stdout: 'sleeping', change: { timeoutMs: 150 } },
  { kind: 'cancelled', payload: 'live 60000', stdout: '' },
  {
    kind: 'output_too_large',
    payload: `pattern ${capBytes + 1}`,
    stdout: '',
    change: { stdoutMaxBytes: capBytes },
  },
]

async function runOne(sandboxes: Sandboxes, spec: SandboxSpec, topic: string, course: Course) {
  const taken = await sandboxes.take(spec, { topic })
  if (taken.kind !== 'taken') return { ending: taken.kind, fault: JSON.stringify(taken) }
  const cancel = new AbortController()
  const outcome = await taken.sandbox.run({
    payload: course.payload,
    env: {},
    timeoutMs: 9_000,
    stdoutMaxBytes: mebibyte,
    stderrMaxBytes: capBytes,
    signal: cancel.signal,
    onStderr: () => cancel.abort(),
    ...course.change,
  })
  await taken.sandbox.release()
  const { kind, stdout } = outcome
  const isRight =
    kind === course.kind &&
    (kind === 'output_too_large' ? stdout.length === capBytes : String(stdout) === course.stdout)
  const { stdout: _, stderrTail: __, ...rest } = outcome
  return { ending: kind, fault: isRight ? undefined : `${course.payload}: ${JSON.stringify(rest)}` }
}

function heldAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The dead that nobody fetches: their parents are given a moment. Others on this machine die as well, all the time. */
async function unburied(before: ReadonlySet<string>): Promise<number> {
  let left = listZombies().difference(before)
  const bury = () => (left = left.intersection(listZombies())).size === 0
  await waitUntil('all to be buried', bury).catch(() => {})
  return left.size
}

/**
 * Of the whole machine; none where the system does not tell. An orphan is buried by the machine's own init, when it
 * likes: the engine leaves it one shim for each container, which is nobody's fault here.
 */
function listZombies(): Set<string> {
  return new Set(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name) && / Z (?!1 )/.test(statusOf(name))),
  )
}

function statusOf(pid: string): string {
  try {
    return /\) . \d+ /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[0] ?? ''
  } catch {
    // safe to ignore because a process that has ended is no zombie
    return ''
  }
}

async function countVolumes(docker: Docker): Promise<number> {
  const { Volumes } = await docker.listVolumes()
  return Volumes.length
}
