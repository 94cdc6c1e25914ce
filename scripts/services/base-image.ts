import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { hasImage, importImage, pullImage } from '@toolyard/sandbox/store-image'
import { Failure } from './failure.ts'
import { findProgram, systemPath } from './find-program.ts'
import { installPackages } from './packages.ts'
import type { Progress } from './progress.ts'
import { openLogDescriptor } from './rotating-log.ts'
import { tailLines } from './tail.ts'

// The Debian under the bases in tools/_base: a registry's, or, where none answers, one made from Debian's archive.

/** A base's name in tools/_base, and what it needs that a bare Debian lacks. */
export const basePackages = {
  shell: ['bash', 'ca-certificates', 'jq'],
  python: ['ca-certificates', 'python3'],
  node: ['ca-certificates', 'nodejs'],
} as const

export type BaseName = keyof typeof basePackages

export type BaseRequest = { dockerHost: string; base: BaseName; log: string; registryTimeoutMs?: number }

const release = 'bookworm'
const registryImage = `debian:${release}-slim`
const makeTimeoutMs = 600_000
// What Debian's own slim images leave out.
const unneeded = ['doc', 'groff', 'info', 'linda', 'lintian', 'man'].map((name) => `/usr/share/${name}/*`)

/** The image to pass as DEBIAN when this base is built; it is on the engine when this returns. */
export async function prepareDebian(request: BaseRequest, progress: Progress): Promise<string> {
  const docker = openEngine(request.dockerHost)
  const own = `toolyard/debian-${request.base}:${release}`
  for (const name of [own, registryImage]) if (await hasImage(docker, name)) return name
  if (await pullImage(docker, registryImage, request.registryTimeoutMs ?? 60_000)) return registryImage
  if (findProgram('mmdebstrap') === undefined) {
    const purpose = 'What makes a Debian base image (no registry answers)'
    const otherwise = `load the image ${registryImage} into the engine`
    await installPackages({ packages: ['mmdebstrap'], purpose, otherwise, log: request.log }, progress)
  }
  await progress.step(`Making ${own} from Debian's archive (log in ${request.log})`, () => make(request, own))
  return own
}

async function make({ dockerHost, base, log }: BaseRequest, name: string): Promise<void> {
  const output = openLogDescriptor(log)
  const words = [
    '--variant=minbase',
    `--include=${basePackages[base].join(',')}`,
    ...unneeded.map((path) => `--dpkgopt=path-exclude=${path}`),
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    '--format=tar',
    release,
    '-',
  ]
  const env = { ...process.env, PATH: systemPath }
  const child = spawn('mmdebstrap', words, { env, stdio: ['ignore', 'pipe', output] })
  closeSync(output)
  const { stdout } = child
  if (stdout === null) throw new Failure('mmdebstrap could not be started')
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  try {
    const imported = importImage(openEngine(dockerHost), name, stdout, makeTimeoutMs)
    const [code] = await Promise.all([ended, imported])
    if (code !== 0) throw new Failure(`mmdebstrap ended ${code}`)
  } catch (error) {
    child.kill('SIGKILL')
    // A half-made image would be found by its name the next time.
    await openEngine(dockerHost)
      .getImage(name)
      .remove({ force: true })
      .catch(() => {})
    const reason = error instanceof Error ? error.message : 'unknown error'
    throw new Failure(`No Debian base image could be made (${reason}):\n${tailLines(log, 10).join('\n')}`)
  }
}
