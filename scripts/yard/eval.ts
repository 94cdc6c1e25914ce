import type { Verb } from './arguments/run-verb.ts'
import { runVerb } from './arguments/run-verb.ts'

const verbs: Record<string, Verb> = {
  search: {
    usage: '--data DIR [--queries N] [--json]',
    about: 'how well the right tool is found on a labelled set, before and after outcomes are remembered',
    load: async () => (await import('./eval/evaluate-search.ts')).evaluateSearch,
  },
  fit: {
    usage: '--data DIR [--data DIR …]',
    about: 'fit the probabilities of search to labelled sets, and write them into libs/relevance',
    load: async () => (await import('./eval/fit-calibration.ts')).fitCalibration,
  },
}

export const evaluate = (args: string[]): Promise<number> => runVerb('eval', verbs, args)
