import type { SettingName } from './settings.ts'

// What each process reads. A setting that is in none of these lists is dead; a test says so.

export const processSettings = [
  'databaseUrl',
  'redisUrl',
  'redisPrefix',
  'logLevel',
  'drainSeconds',
  'databasePoolMax',
  'queuePoolMax',
] as const

const webhookSettings = ['webhookAllowHttp', 'webhookPorts', 'webhookAllow'] as const

export const apiSettings = [
  ...processSettings,
  'dataDir',
  'secretKeys',
  'host',
  'port',
  'bodyMaxBytes',
  'trustedProxies',
  'authFailuresPerMinute',
  'hookCallsPerMinute',
  'keepTicksDays',
  'allowWritable',
  'embeddingsUrl',
  'embeddingsModel',
  'embeddingsDimensions',
  'embeddingsKey',
  ...webhookSettings,
] as const satisfies SettingName[]

export const workerSettings = [
  ...processSettings,
  'dataDir',
  'secretKeys',
  'dockerHost',
  'instance',
  'runtime',
  'allowHostNetwork',
  'allowWritable',
  'allowRoot',
  'toolDirs',
  'watchTools',
  'buildConcurrency',
  'buildSeconds',
  'imageMaxMegabytes',
  'slots',
  ...webhookSettings,
] as const satisfies SettingName[]

export const schedulerSettings = [
  ...processSettings,
  'keepInvocationsDays',
  'keepRawOutputDays',
  'keepDeliveriesDays',
  'keepTopicsDays',
  'keepLessonsDays',
  'keepTicksDays',
  'keepPromptsDays',
  'keepToolStateDays',
  'keepAuditDays',
] as const satisfies SettingName[]

/** The `yard` command starts all of them, so it checks the whole environment before it starts one. */
export const yardSettings = [
  ...new Set([...apiSettings, ...workerSettings, ...schedulerSettings, 'egressAllow'] as const),
] satisfies SettingName[]
