import { closeSync, writeSync } from 'node:fs'
import { provideDebian } from '@toolyard/catalog/provide-debian'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { Failure } from '../terminal/failure.ts'
import { installPackages } from '../packages/install-packages.ts'
import type { Progress } from '../terminal/progress.ts'
import { openLogDescriptor } from '../logs/rotating-log.ts'

// The Debian under the bases in tools/_base, and the program that makes it where no registry answers.

export type BaseRequest = { dockerHost: string; base: string; log: string; registryTimeoutMs?: number }

/** The image to pass as DEBIAN when this base is built; it is on the engine when this returns. */
export async function prepareDebian(request: BaseRequest, progress: Progress): Promise<string> {
  const what = `Preparing the Debian under toolyard/base-${request.base} (log in ${request.log})`
  const provided = await progress.step(what, () => provide(request))
  if (provided.kind === 'provided') return provided.image
  if (provided.kind === 'failed') throw new Failure(provided.detail)
  const purpose = 'What makes a Debian base image (no registry answers)'
  const otherwise = 'load a Debian image into the engine'
  await installPackages({ packages: ['mmdebstrap'], purpose, otherwise, log: request.log }, progress)
  const made = await progress.step(what, () => provide(request))
  if (made.kind !== 'provided') throw new Failure(made.detail)
  return made.image
}

async function provide({ dockerHost, base, log, registryTimeoutMs }: BaseRequest) {
  const output = openLogDescriptor(log)
  try {
    return await provideDebian(openEngine(dockerHost), {
      base,
      ...(registryTimeoutMs === undefined ? {} : { registryTimeoutMs }),
      signal: new AbortController().signal,
      onProgress: (line) => writeSync(output, `${line}\n`),
    })
  } finally {
    closeSync(output)
  }
}
