import { join } from 'node:path'
import type { Bases } from './read-bases.ts'
import { readBases } from './read-bases.ts'

const productTools = join(import.meta.dirname, '../../../../tools')

/** The bases of these directories, and the product's own under the names that they leave free. */
export const basesFor = (dirs: readonly string[]): Promise<Bases> => readBases([...dirs, productTools])
