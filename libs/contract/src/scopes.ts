/** What a key may do. The order is the order in documentation. */
export const scopes = [
  'tools:read',
  'tools:invoke',
  'tools:configure',
  'tools:manage',
  'invocations:read',
  'invocations:raw',
  'memory:read',
  'webhooks:manage',
  'schedules:manage',
  'prompts:consume',
  'keys:manage',
  'ops:view',
] as const

export type Scope = (typeof scopes)[number]
