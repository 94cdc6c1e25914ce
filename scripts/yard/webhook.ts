import type { Verb } from './arguments/run-verb.ts'
import { runVerb } from './arguments/run-verb.ts'

const verbs: Record<string, Verb> = {
  listen: {
    usage: '[--port PORT] [--secret whsec_… | --register] [--status STATUS] [--json] [--key-file FILE]',
    about: 'receive webhooks on this machine, to try them out: verify and print what arrives, until Ctrl-C',
    details: [
      '  --secret    of the webhook; - reads it from stdin',
      '  --register  make a webhook for this address, for as long as this runs',
      '  --status    what to answer, if not 204; what a secret does not verify is answered 401',
      '  --json      each message as one line of JSON',
      'Exit code 0: it was ended by Ctrl-C.',
    ],
    load: async () => (await import('./webhook/listen.ts')).listen,
  },
}

export const webhook = (args: string[]): Promise<number> => runVerb('webhook', verbs, args)
