import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import type { Engine } from '@toolyard/sandbox/open-engine'
import { importImage } from '@toolyard/sandbox/store-image'

// A Debian made from Debian's archive, for engines that reach no registry.

export type MadeDebian =
  | { kind: 'made' }
  /** There is no mmdebstrap on this machine. */
  | { kind: 'program_missing' }
  | { kind: 'failed'; detail: string }

export type DebianRequest = {
  name: string
  packages: readonly string[]
  /** Where programs are looked for. */
  path?: string
  signal: AbortSignal
  onProgress: (line: string) => void
}

export const debianRelease = 'bookworm'
const makeTimeoutMs = 600_000
const graceMs = 10_000
const keptLinesMax = 10
// Daemons' and administrators' programs are not on the PATH of every user.
const systemPath = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin'
// env(1) adds to the environment and says by 127 that there is no such program.
const notFound = 127
// What Debian's own slim images leave out.
const unneeded = ['doc', 'groff', 'info', 'linda', 'lintian', 'man'].map((name) => `/usr/share/${name}/*`)

export async function makeDebian(engine: Engine, request: DebianRequest): Promise<MadeDebian> {
  const { name, signal, onProgress } = request
  // A group of its own, to be ended as a whole: mmdebstrap alone would wait until those it has started are done.
  const child = spawn('/usr/bin/env', wordsOf(request), { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.splice(0, lines.length - keptLinesMax + 1)
    lines.push(line)
    onProgress(line)
  })
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', resolve)
  })
  const stop = createStop(child.pid)
  signal.addEventListener('abort', stop.ask)
  if (signal.aborted) stop.ask()
  try {
    await importImage(engine, name, Readable.from(wholeOf(child.stdout, ended)), makeTimeoutMs)
    return { kind: 'made' }
  } catch (error) {
    stop.ask()
    // It does not end while somebody is still expected to read.
    child.stdout.destroy()
    const code = await ended
    if (code === notFound) return { kind: 'program_missing' }
    const reason = code === 0 && error instanceof Error ? error.message : `mmdebstrap ended ${code}`
    return { kind: 'failed', detail: [reason, ...lines].join('\n') }
  } finally {
    signal.removeEventListener('abort', stop.ask)
    stop.forget()
  }
}

function wordsOf({ packages, path = systemPath }: DebianRequest): string[] {
  return [
    `PATH=${path}`,
    'mmdebstrap',
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    ...unneeded.map((place) => `--dpkgopt=path-exclude=${place}`),
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    '--format=tar',
    debianRelease,
    '-',
  ]
}

/** Fails at the end where the archive is not whole, so that the engine never makes an image of a half. */
async function* wholeOf(archive: Readable, ended: Promise<number | string | null>): AsyncGenerator<Buffer> {
  for await (const chunk of archive) yield Buffer.from(chunk)
  const code = await ended
  if (code !== 0) throw new Error(`mmdebstrap ended ${code}`)
}

/** Asked to end it removes what it has unpacked; killed it cannot. */
function createStop(group: number | undefined) {
  let timer: NodeJS.Timeout | undefined
  const send = (signal: NodeJS.Signals) => {
    try {
      if (group !== undefined) process.kill(-group, signal)
    } catch {
      // safe to ignore because a group that cannot be told has ended
    }
  }
  return {
    ask: () => {
      if (timer !== undefined) return
      send('SIGTERM')
      timer = setTimeout(() => send('SIGKILL'), graceMs)
    },
    forget: () => clearTimeout(timer),
  }
}
