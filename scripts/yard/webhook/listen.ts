import type { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { parseWebhookSecret } from '@toolyard/webhooks/webhook-secret'
import { codeOf } from '../../services/terminal/failure.ts'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readSecret } from '../arguments/read-stdin.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { wholeNumber } from '../arguments/whole-number.ts'
import { listenForStop } from '../stop-signals.ts'
import { createPaint } from '../text/paint.ts'
import { countIds } from './count-ids.ts'
import { judgeMessage } from './judge-message.ts'
import { createLinePrinter, jsonPrinter } from './message-lines.ts'
import { registerReceiver } from './register-receiver.ts'
import type { Reception } from './start-receiver.ts'
import { startReceiver } from './start-receiver.ts'
import { howToGetSecret } from './how-to-get-secret.ts'

const options = {
  ...askingOptions,
  port: { type: 'string' },
  secret: { type: 'string' },
  register: { type: 'boolean', default: false },
  status: { type: 'string', default: '204' },
} as const

const unverifiedStatus = 401

/** Prints what arrives on stdout, all else on stderr. Exit code 0 when it is ended, by Ctrl-C or by its reader. */
export async function listen(args: string[]): Promise<number> {
  const choices = await readChoices(args)
  const { desk, port, given } = choices
  const signals = listenForStop()
  const stop = AbortSignal.any([signals.stop, readerGone()])
  // A message may come before the answer that tells the secret; it waits for it.
  const keys = Promise.withResolvers<readonly KeyObject[]>()
  const receiver = await startReceiver(port, createReception(choices, keys.promise))
  try {
    console.error(`Listening on http://127.0.0.1:${receiver.port}/ until Ctrl-C`)
    const registration = desk === undefined ? undefined : await registerReceiver(desk.api, receiver.port)
    if (registration !== undefined)
      console.error(`Registered as ${registration.id}, which is removed when this ends`)
    else if (given.length === 0) console.error(howToGetSecret(receiver.port).join('\n'))
    try {
      keys.resolve(registration === undefined ? given : [registration.key])
      if (!stop.aborted) await once(stop, 'abort')
    } finally {
      if (registration !== undefined) {
        console.error(`Removing ${registration.id}`)
        await registration.remove(signals.hurry)
      }
    }
  } finally {
    await receiver.close()
    signals.dispose()
  }
  return 0
}

type Choices = Awaited<ReturnType<typeof readChoices>>

async function readChoices(args: string[]) {
  const { values } = parseArgs({ args, options })
  const { port, secret, register, json, status } = values
  if (register && secret !== undefined)
    throw new UsageFault('--register brings its own secret: leave out --secret')
  if (register && port === undefined)
    throw new UsageFault('--register needs --port: Toolyard sends to the ports that it was started with')
  return {
    json,
    port: port === undefined ? undefined : wholeNumber('--port', port, { min: 1, max: 65_535 }),
    status: wholeNumber('--status', status, { min: 200, max: 599 }),
    given: secret === undefined ? [] : [await readKey(secret)],
    // Opened now: that there is no key is told before anything listens.
    desk: register ? openDesk(values) : undefined,
  }
}

async function readKey(typed: string): Promise<KeyObject> {
  const parsed = parseWebhookSecret(typed === '-' ? await readSecret('Secret of the webhook') : typed)
  if ('key' in parsed) return parsed.key
  throw new UsageFault(`--secret: ${parsed.fault}`)
}

function createReception({ json, status }: Choices, keys: Promise<readonly KeyObject[]>): Reception {
  const printer = json ? jsonPrinter : createLinePrinter(createPaint(process.stdout, process.env))
  const count = countIds()
  return {
    async receive(message) {
      const known = await keys
      const judged = judgeMessage(message, { keys: known, now: new Date() })
      const answered = judged.verified || known.length === 0 ? status : unverifiedStatus
      const seen = judged.id === null ? 1 : count(judged.id)
      console.log(printer.message(judged, { seen, answered }))
      return answered
    },
    onRefused: (refused) => console.log(printer.refused(refused, new Date())),
  }
}

/** Aborted when nobody reads stdout any more, as after `head`: the webhook is to be removed all the same. */
function readerGone(): AbortSignal {
  const gone = new AbortController()
  process.stdout.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error
    gone.abort()
  })
  return gone.signal
}
