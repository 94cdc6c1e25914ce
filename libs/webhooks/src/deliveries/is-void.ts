/** How long after its time a message is still worth sending: as long as nobody resumes its webhook, or its receiver has no place. */
const overdueMax = "interval '7 days'"

/** What a delivery `one` depends on. */
export const dependencies = `
  left join webhooks as webhook on webhook.id = one.webhook_id
  left join api_keys as owner on owner.id = one.key_id`

/**
 * Whether nobody is to be told any more of a delivery that waits: its webhook was disabled or removed since, its key
 * may see nothing any more, or it has become old. This alone decides, at every try; that such rows are marked as
 * dropped is only how they are shown and found no more.
 */
export const isVoid = `((
  one.webhook_id is not null and (webhook.enabled is not true or one.wanted_at <= webhook.dropped_at)
  or owner.id is null or owner.revoked_at is not null or owner.expires_at <= clock_timestamp()
  or one.due_at < clock_timestamp() - ${overdueMax}) is true)`
