import { setTimeout as delay } from 'node:timers/promises'
import type { Catalog, CatalogView } from '@toolyard/catalog/create-catalog'
import { AppError } from '@toolyard/contract/errors'
import { toolName } from '@toolyard/contract/keys'
import type { WebhookTrigger } from '@toolyard/contract/webhook-trigger'
import { hookSecretNames } from '@toolyard/contract/webhook-trigger'
import type { Vault } from '@toolyard/vault/open-vault'
import { readSecrets } from '@toolyard/vault/read-secrets'
import type { RefusalReason } from '@toolyard/webhooks/verification'
import { verifyIncoming } from '@toolyard/webhooks/verify-incoming'

export type ReceivedMessage = { headers: Headers; body: Buffer }

export type VerifiedSender =
  | { ok: true; trigger: WebhookTrigger; eventId?: string | undefined; sentAt?: Date | undefined }
  /** For the log: the sender is told none of it. */
  | { ok: false; reason: RefusalReason | 'no_webhook_tool'; detail: string }

const vaultWaitMs = 1_000

/**
 * Whether a message is from one who may call this tool, by the tools as this process knows them, and again where they
 * have changed since. Whatever the name, the same questions are asked, so that the answer and its time tell a stranger
 * little of which tools there are; that he is answered few times a minute does the rest.
 */
export async function verifySender(
  { catalog, vault }: { catalog: Catalog; vault: () => Promise<Vault> },
  tool: string,
  received: ReceivedMessage,
): Promise<VerifiedSender> {
  if (!toolName.safeParse(tool).success) return noWebhookTool
  const secrets = await readSenderSecrets(await openedSoon(vault), tool)
  for (let view = await catalog.latest(); ;) {
    const verified = verifyBy(view, tool, received, secrets)
    if (verified.ok) return verified
    const now = await catalog.view()
    if (now === view) return verified
    view = now
  }
}

const noWebhookTool = {
  ok: false,
  reason: 'no_webhook_tool',
  detail: 'there is no webhook tool of this name',
} as const

function verifyBy(
  view: CatalogView,
  tool: string,
  received: ReceivedMessage,
  secrets: readonly string[],
): VerifiedSender {
  const trigger = view.byName.get(tool)?.manifest?.trigger
  if (trigger?.type !== 'webhook') return noWebhookTool
  const verified = verifyIncoming(received, trigger, secrets, new Date())
  return verified.ok ? { ...verified, trigger } : verified
}

/** In words that do not name the tool: whoever asks is not known yet. */
async function readSenderSecrets(vault: Vault, tool: string): Promise<string[]> {
  try {
    return await readSecrets(vault, tool, hookSecretNames)
  } catch (error) {
    if (error instanceof AppError && error.code === 'secrets_unavailable') throw notReadable(error)
    throw error
  }
}

/** A vault that is not open yet is not waited for: whoever asks could be anybody, and many. */
async function openedSoon(vault: () => Promise<Vault>): Promise<Vault> {
  const enough = new AbortController()
  const { signal } = enough
  try {
    const opened = await Promise.race([vault(), delay(vaultWaitMs, undefined, { signal, ref: false })])
    if (opened === undefined) throw notReadable('the vault is not open yet')
    return opened
  } finally {
    enough.abort()
  }
}

const notReadable = (cause: unknown) =>
  new AppError('secrets_unavailable', 'It cannot be found out now who sends; send it again', {
    retryAfterSeconds: 5,
    cause,
  })
