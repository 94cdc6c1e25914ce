import { join } from 'node:path'
import { buildInit } from '@toolyard/sandbox/build-init'
import type { Part } from '@toolyard/service/part'

/** Compiles the init that becomes the last layer of every tool, unless it has been; without it no tool can be built. */
export async function provideInit(dataDir: string): Promise<Part> {
  try {
    await buildInit(initFile(dataDir))
    return { state: 'ready' }
  } catch (error) {
    const [detail = ''] = error instanceof Error ? error.message.split('\n') : []
    return { state: 'missing', detail }
  }
}

/** Where it is once `provideInit` says that it is ready. */
export const initFile = (dataDir: string) => join(dataDir, 'init', process.arch, 'init')
