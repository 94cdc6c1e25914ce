/**
 * The webhooks that are told anything, with what their keys may see. A paused one is told too, and waits. As a part of
 * its own, so that the keys are looked up for each webhook, and not for each pair of one with an event.
 */
export const listening = `
  listening as materialized (
    select webhook.id, webhook.key_id, webhook.events, webhook.tools, webhook.topics,
      owner.tools as key_tools, owner.topics as key_topics
    from webhooks as webhook
    join api_keys as owner on owner.id = webhook.key_id
    where webhook.enabled and owner.revoked_at is null
      and (owner.expires_at is null or owner.expires_at > clock_timestamp())
  )`

/**
 * Whether one of `listening as webhook` is told of what belongs to this tool and topic: its key may see it, and it asked
 * for no others. What belongs to no topic is seen by whoever sees the tool.
 */
export const mayHear = (tool: string, topic: string) => `(
  (webhook.tools is null or ${tool} = any(webhook.tools))
  and (webhook.key_tools is null or ${tool} = any(webhook.key_tools))
  and (${topic} is null
    or (webhook.topics is null or ${topic} = any(webhook.topics))
      and (webhook.key_topics is null or ${topic} = any(webhook.key_topics))))`
