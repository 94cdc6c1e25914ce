import type { KeyObject } from 'node:crypto'
import { webhookEvents, webhookWithSecretShape } from '@toolyard/contract/webhooks'
import { parseWebhookSecret } from '@toolyard/webhooks/webhook-secret'
import { Failure, messageOf } from '../../services/terminal/failure.ts'
import type { Api } from '../api/open-api.ts'
import { readAnswer } from '../api/open-api.ts'
import { neededSettings } from './needed-settings.ts'

export type Registration = {
  id: string
  key: KeyObject
  /** With the signal it is given up, and stays. */
  remove(signal: AbortSignal): Promise<void>
}

/** Makes a webhook for what listens on that port, which is told everything that its key may see. */
export async function registerReceiver(api: Api, port: number): Promise<Registration> {
  const body = {
    url: `http://127.0.0.1:${port}/`,
    events: [...webhookEvents],
    description: './yard webhook listen',
  }
  const answer = await api.call('/webhooks', { method: 'POST', body }).catch((error: unknown) => {
    throw explainRefusal(error, port)
  })
  const { id, secret = '' } = readAnswer(webhookWithSecretShape, answer)
  const parsed = parseWebhookSecret(secret)
  if ('fault' in parsed)
    throw new Failure(`The webhook ${id} was made, but its secret is none: ${parsed.fault}`)
  return {
    id,
    key: parsed.key,
    async remove(signal) {
      try {
        await api.call(`/webhooks/${id}`, { method: 'DELETE', signal })
      } catch (error) {
        const reason = signal.aborted ? 'nobody waited for its end' : messageOf(error)
        throw new Failure(`The webhook ${id} stays, until DELETE /webhooks/${id} removes it: ${reason}`)
      }
    },
  }
}

// The API points at the part of the body that it refuses.
const isAboutUrl = (error: unknown): error is Failure =>
  error instanceof Failure && /^ {2}\/url /m.test(error.message)

function explainRefusal(error: unknown, port: number): unknown {
  if (!isAboutUrl(error)) return error
  return new Failure(
    [
      error.message,
      'Toolyard sends to this machine only if it was started with these settings:',
      ...neededSettings(port).map((line) => `  ${line}`),
    ].join('\n'),
  )
}
