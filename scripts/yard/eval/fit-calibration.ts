import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLocalEmbedder } from '@toolyard/relevance/create-local-embedder'
import { referenceMean } from '@toolyard/relevance/reference-mean'
import { UsageFault } from '../arguments/usage-fault.ts'
import { fitKind } from './fit-kind.ts'
import type { Kind } from './fit-kind.ts'
import type { PreparedSet } from './prepare-set.ts'
import { prepareSet } from './prepare-set.ts'
import { readLabelledSet } from './read-labelled-set.ts'

const constantsFile = join(import.meta.dirname, '../../../libs/relevance/src/score/calibration-constants.ts')

/** Writes the constants of calibrate.ts. The same data give the same file. */
export async function fitCalibration(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { data: { type: 'string', multiple: true } } })
  if (values.data === undefined) throw new UsageFault('name the labelled sets by --data')
  const embedder = createLocalEmbedder()
  try {
    const mean = await referenceMean(embedder)
    const sets: PreparedSet[] = []
    for (const folder of values.data)
      sets.push(await prepareSet(readLabelledSet(folder, 2_000), embedder, mean))
    const fitted = { fused: fitKind(sets, 'fused'), lexical: fitKind(sets, 'lexical') }
    writeFileSync(constantsFile, describeCalibrations(fitted))
    console.log(JSON.stringify(fitted, null, 2))
    return 0
  } finally {
    await embedder.close()
  }
}

function describeCalibrations(fitted: Record<Kind, ReturnType<typeof fitKind>>): string {
  const number = (value: number) => Number(value.toFixed(4))
  const kinds = Object.entries(fitted).map(([kind, { intercept, weights, slope }]) => {
    const lines = Object.entries(weights).map(([name, value]) => `      ${name}: ${number(value)},`)
    const head = [`  ${kind}: {`, `    intercept: ${number(intercept)},`, '    weights: {']
    return [...head, ...lines, '    },', `    slope: ${number(slope)},`, '  },'].join('\n')
  })
  return `import type { Features } from './calibrate.ts'

// Written by \`./yard eval fit\`: do not change by hand.

export type Calibration = {
  intercept: number
  weights: Features
  /** How fast the probability falls with the distance from the best. */
  slope: number
}

export const calibrations: Readonly<Record<'fused' | 'lexical', Calibration>> = {
${kinds.join('\n')}
}
`
}
