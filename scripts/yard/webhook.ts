import { UsageFault } from './arguments/usage-fault.ts'
import { withUsage } from './arguments/with-usage.ts'
import { listen } from './webhook/listen.ts'

const usage =
  './yard webhook listen [--port PORT] [--secret whsec_… | --register] [--status STATUS] [--json] [--key-file FILE]'
const about = [
  'receive webhooks on this machine, to try them out: verify and print what arrives, until Ctrl-C',
  '  --secret    of the webhook; - reads it from stdin',
  '  --register  make a webhook for this address, for as long as this runs',
  '  --status    what to answer, if not 204; what a secret does not verify is answered 401',
  '  --json      each message as one line of JSON',
].join('\n')

/** Exit code 0: it was ended by Ctrl-C. */
export async function webhook(args: string[]): Promise<number> {
  return withUsage({ args, usage, about }, async () => {
    const [verb, ...rest] = args
    if (verb !== 'listen')
      throw new UsageFault(verb === undefined ? 'say what to do: listen' : 'there is only: webhook listen')
    return listen(rest)
  })
}
