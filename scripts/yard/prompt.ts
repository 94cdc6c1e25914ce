import type { Verb } from './arguments/run-verb.ts'
import { asking, runVerb } from './arguments/run-verb.ts'

const verbs: Record<string, Verb> = {
  list: {
    usage: `[--tool NAME] [--status waiting|claimed|acked|superseded] [--limit N] ${asking}`,
    about: 'the newest prompts, without taking any',
    load: async () => (await import('./prompt/list-prompts.ts')).listPrompts,
  },
  claim: {
    usage: `[--tool NAME] [--limit N] [--lease SECONDS] ${asking}`,
    about: 'take prompts to work through; nobody else gets them meanwhile',
    load: async () => (await import('./prompt/claim-prompts.ts')).claimPrompts,
  },
  ack: {
    usage: `ID [--claim CLAIM] ${asking}`,
    about: 'say that a claimed prompt was worked through',
    load: async () => (await import('./prompt/claim-prompts.ts')).ackPrompt,
  },
}

export const prompt = (args: string[]): Promise<number> => runVerb('prompt', verbs, args)
