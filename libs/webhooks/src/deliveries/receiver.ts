import { createHash } from 'node:crypto'

// Who is one receiver: a webhook, or one host for the callbacks of one key. Not the host alone: whoever fills the places
// of a host that many use would hold up all of them. Nor the key alone: its hosts would hold up each other.

/** Of a webhook's id. */
export const webhookReceiver = (id: string) => `md5(${id})`

/** Of a key's id and a URL, whose host may be spelled in capitals. */
export const callbackReceiver = (keyId: string, url: string) =>
  `md5(${keyId} || ' ' || coalesce(lower(substring(${url} from '://([^/?#]+)')), ''))`

/** As the database calls it. */
export const receiverOf = (webhookId: string) => createHash('md5').update(webhookId).digest('hex')
