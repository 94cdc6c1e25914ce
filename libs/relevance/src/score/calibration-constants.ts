import type { Features } from './calibrate.ts'

// Written by `./yard eval fit`: do not change by hand.

export type Calibration = {
  intercept: number
  weights: Features
  /** How fast the probability falls with the distance from the best. */
  slope: number
}

export const calibrations: Readonly<Record<'fused' | 'lexical', Calibration>> = {
  fused: {
    intercept: -0.5671,
    weights: {
      score: 1.6372,
      overSecond: 0.1847,
      overNext: 2.6343,
      deviations: -0.0532,
      semantic: -0.5714,
      lexical: -1.828,
      covered: 1.1139,
      terms: -0.078,
      tools: -0.1562,
      scorePerTerm: 2.1188,
      overNextPerTerm: 1.2722,
    },
    slope: 16.1718,
  },
  lexical: {
    intercept: -0.2328,
    weights: {
      score: -0.3964,
      overSecond: 2.1485,
      overNext: 4.2866,
      deviations: -0.073,
      semantic: 0,
      lexical: -0.4685,
      covered: 2.4314,
      terms: -0.1321,
      tools: 0.0284,
      scorePerTerm: 0.5792,
      overNextPerTerm: 2.2634,
    },
    slope: 31.0249,
  },
}
