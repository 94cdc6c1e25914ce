import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { execFileSync, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildInit, compile, warnings } from '../build.ts'
import { frame, readFrames, readReport, runBody, type Frame, type RunOptions } from './frames.ts'

export type SandboxOptions = {
  readonly words?: readonly string[]
  readonly uid?: number
  /** What root.sh reads: VOLUMES, VOLUME_OPTIONS, WITHOUT_QUEUES, SHARED, CGROUP, WRITABLE_ROOT, LAUNCHER. */
  readonly room?: Readonly<Record<string, string>>
}

const toolSources = ['tool.c', 'attack.c', 'calls.c', 'crowd.c', 'litter.c']

/** A root file system with the init and the test's tool, from which any number of sandboxes can be started. */
export async function createYard(sanitize = false) {
  if (process.getuid?.() !== 0)
    throw new Error('namespaces, mounts and other uids need root: run these tests as root')
  const root = await mkdtemp(join(tmpdir(), 'toolyard-init-'))
  for (const folder of [
    'proc',
    'tmp',
    'dev/shm',
    'dev/mqueue',
    'data',
    'lib',
    'lib64',
    'usr/lib',
    'sys/fs/cgroup/memory',
  ])
    await mkdir(join(root, folder), { recursive: true })
  execFileSync('chmod', ['755', root])
  execFileSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3'])
  await buildInit(join(root, '.toolyard/init'), { sanitize })
  await compileFor(root, 'bin/tool', toolSources)
  await compileFor(root, 'bin/without-filters', ['without_filters.c'])
  const room = sanitize ? { SHARED: 'lib lib64 usr/lib' } : {}
  const started: Sandbox[] = []
  return {
    root,
    start: (options: SandboxOptions = {}) => {
      const sandbox = startSandbox(root, { ...options, room: { ...room, ...options.room } })
      started.push(sandbox)
      return sandbox
    },
    remove: async () => {
      await Promise.all(started.map((sandbox) => sandbox.kill()))
      await rm(root, { recursive: true, force: true })
    },
  }
}

const compileFor = (root: string, path: string, sources: readonly string[]) =>
  compile(
    'cc',
    [...warnings, '-O1', '-static', ...sources.map((name) => join('testing', name))],
    join(root, path),
  )

export type Yard = Awaited<ReturnType<typeof createYard>>
export type Sandbox = ReturnType<typeof startSandbox>
export type Outcome = Awaited<ReturnType<Sandbox['run']>>

function startSandbox(root: string, options: SandboxOptions) {
  const words = ['/.toolyard/init', ...(options.words ?? ['/bin/tool'])]
  const script = join(import.meta.dirname, 'root.sh')
  const child = spawn(
    'unshare',
    [
      '--pid',
      '--fork',
      '--kill-child',
      '--ipc',
      '--mount',
      'sh',
      script,
      root,
      String(options.uid ?? 12345),
      ...words,
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...options.room } },
  )
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  // a sandbox that ends while it is written to is what many tests are about
  child.stdin.on('error', () => undefined)
  const frames = readFrames(child.stdout)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))

  async function next(): Promise<Frame> {
    const result = await frames.next()
    if (!result.done) return result.value
    throw new Error(`the init ended with ${await ended}: ${Buffer.concat(errors).toString()}`)
  }

  async function expect(kind: string): Promise<Buffer> {
    const got = await next()
    if (got.kind !== kind)
      throw new Error(`expected ${kind}, got ${got.kind}: ${got.body.toString().slice(0, 300)}`)
    return got.body
  }

  const send = (bytes: Buffer) => child.stdin.write(bytes)
  const request = (run: RunOptions) => send(frame('R', runBody(run)))

  return {
    child,
    ended,
    next,
    expect,
    send,
    request,
    errors: () => Buffer.concat(errors).toString(),
    outcome: () => readOutcome(next),
    run: async (run: RunOptions) => {
      request(run)
      return await readOutcome(next)
    },
    close: async () => {
      child.stdin.end()
      child.stdout.resume()
      return await ended
    },
    /** Ends it whatever the state of its streams. */
    kill: async () => {
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.stdin.destroy()
      await exited
    },
    /** The init's own pid as the host sees it. */
    hostPid: async () => {
      const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      return Number(children.trim())
    },
  }
}

/** Collects everything up to the report, or the reason why it did not start. */
async function readOutcome(next: () => Promise<Frame>) {
  const out: Buffer[] = []
  const err: Buffer[] = []
  for (;;) {
    const { kind, body } = await next()
    if (kind === 'O') out.push(body)
    else if (kind === 'E') err.push(body)
    else if (kind === 'F') return { failure: { errno: body.readUInt32LE(0), text: body.toString('utf8', 4) } }
    else if (kind === 'X') return { out: Buffer.concat(out), err: Buffer.concat(err), ...readReport(body) }
    else if (kind !== 'S') throw new Error(`unexpected ${kind}: ${body.toString()}`)
  }
}

/** A finished run, or a failed test. */
export function finished(outcome: Outcome) {
  if ('failure' in outcome) throw new Error(`did not start: ${outcome.failure.text}`)
  return outcome
}
