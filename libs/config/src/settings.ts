import type { z } from 'zod'
import { egressAllow } from './egress-allow.ts'
import {
  choice,
  endpoint,
  integer,
  list,
  ports,
  secretToken,
  secretUrl,
  text,
  word,
  yesOrNo,
} from './parsers.ts'
import { secretKeys } from './secret-keys.ts'
import { define } from './setting.ts'

/** Every variable that any Toolyard process reads. docs/configuration.md and .env.example are made from this. */
export const settings = {
  databaseUrl: define({
    env: 'DATABASE_URL',
    about: 'Postgres 15 to 18. Unset, `./yard` runs an embedded Postgres 18 in the data directory.',
    parse: secretUrl('postgres:', 'postgresql:'),
    secret: true,
  }),
  redisUrl: define({
    env: 'REDIS_URL',
    about: 'Redis for the queue. Unset, the queue lives in the same Postgres.',
    parse: secretUrl('redis:', 'rediss:'),
    secret: true,
  }),
  redisPrefix: define({
    env: 'YARD_REDIS_PREFIX',
    about:
      'Before every key in Redis. Installations that share a Redis need one each; all hosts of one have the same.',
    parse: word(),
    default: 'toolyard',
  }),
  dockerHost: define({
    env: 'DOCKER_HOST',
    about: 'The Docker engine, API 1.41 or newer. Unset, the local socket, else an engine of our own.',
    parse: endpoint('unix:', 'tcp:', 'http:', 'https:'),
  }),
  instance: define({
    env: 'YARD_INSTANCE',
    about:
      'The name of this installation on its Docker engine, in the labels of all that it makes there. `./yard` sets it.',
    parse: word(),
    default: 'toolyard',
  }),
  runtime: define({
    env: 'YARD_RUNTIME',
    about:
      'The runtime of the Docker engine that runs every tool, as `runsc` for gVisor. Unset, the engine’s own.',
    parse: word(),
  }),
  allowHostNetwork: define({
    env: 'YARD_ALLOW_HOST_NETWORK',
    about: 'Whether tools may ask for the network of the host itself.',
    parse: yesOrNo(),
    default: 'no',
  }),
  allowWritable: define({
    env: 'YARD_ALLOW_WRITABLE',
    about: 'Whether tools may ask for a root file system that they can write to.',
    parse: yesOrNo(),
    default: 'no',
  }),
  allowRoot: define({
    env: 'YARD_ALLOW_ROOT',
    about: 'Whether tools may run as root of their container.',
    parse: yesOrNo(),
    default: 'no',
  }),
  egressAllow: define({
    env: 'YARD_EGRESS_ALLOW',
    about:
      'What tools may reach beside public addresses, as 10.0.0.5/32:5432,10.1.0.0/16. An address of the host itself needs a port.',
    parse: egressAllow(),
  }),
  webhookAllowHttp: define({
    env: 'YARD_WEBHOOK_ALLOW_HTTP',
    about: 'Whether webhooks and callbacks may go to http addresses: anybody on the way can read them.',
    parse: yesOrNo(),
    default: 'no',
  }),
  webhookPorts: define({
    env: 'YARD_WEBHOOK_PORTS',
    about:
      'Ports that webhooks and callbacks may go to besides 443, and 80 where http is allowed, as 8443,9000.',
    parse: ports(),
  }),
  webhookAllow: define({
    env: 'YARD_WEBHOOK_ALLOW',
    about:
      'What webhooks and callbacks may reach beside public addresses, as 10.0.0.0/8,receiver.example.internal. See docs/webhooks.md.',
    parse: list(),
  }),
  dataDir: define({
    env: 'YARD_DATA_DIR',
    about: 'Where this installation keeps its state: database, engine, logs, admin key.',
    parse: text(),
    default: '.toolyard',
  }),
  secretKeys: define({
    env: 'YARD_SECRET_KEYS',
    about:
      'Master keys of the vault, as id:key,id:key; a key is 32 bytes in base64url, the first wraps. Unset, a file in the data directory.',
    parse: secretKeys(),
    secret: true,
  }),
  toolDirs: define({
    env: 'YARD_TOOL_DIRS',
    about: 'Where the tools are: folders that hold one folder for each tool, as tools,/srv/our-tools.',
    parse: list(),
    default: 'tools',
  }),
  watchTools: define({
    env: 'YARD_WATCH_TOOLS',
    about:
      'Whether changes of tools are picked up by themselves. `./yard dev` sets it; else reload or restart.',
    parse: yesOrNo(),
    default: 'no',
  }),
  buildConcurrency: define({
    env: 'YARD_BUILD_CONCURRENCY',
    about: 'How many images of tools one worker builds at a time.',
    parse: integer({ min: 1, max: 4 }),
    default: '2',
  }),
  buildSeconds: define({
    env: 'YARD_BUILD_SECONDS',
    about: 'How long the build of one image may take.',
    parse: integer({ min: 10, max: 7_200 }),
    default: '600',
  }),
  imageMaxMegabytes: define({
    env: 'YARD_IMAGE_MAX_MEGABYTES',
    about: 'The largest image of a tool, its base included.',
    parse: integer({ min: 16, max: 100_000 }),
    default: '2048',
  }),
  slots: define({
    env: 'YARD_WORKER_SLOTS',
    about: 'How many tools one worker runs at a time, at most. Unset, eight for each core.',
    parse: integer({ min: 1, max: 1_000 }),
  }),
  host: define({
    env: 'YARD_HOST',
    about: 'The address the API listens on. Loopback by default; put TLS in front before opening it.',
    parse: text(),
    default: '127.0.0.1',
  }),
  port: define({
    env: 'YARD_PORT',
    about: 'The port the API listens on.',
    parse: integer({ min: 1, max: 65_535 }),
    default: '8080',
  }),
  logLevel: define({
    env: 'YARD_LOG_LEVEL',
    about: 'The least severe line that is logged.',
    parse: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
  }),
  drainSeconds: define({
    env: 'YARD_DRAIN_SECONDS',
    about: 'How long a process may take to finish its work after SIGTERM.',
    parse: integer({ min: 1, max: 3_600 }),
    default: '30',
  }),
  databasePoolMax: define({
    env: 'YARD_DATABASE_POOL_MAX',
    about: 'Database connections of one process for its own statements.',
    parse: integer({ min: 2, max: 200 }),
    default: '10',
  }),
  queuePoolMax: define({
    env: 'YARD_QUEUE_POOL_MAX',
    about: 'Database connections of one process for its queues, where the queue lives in Postgres.',
    parse: integer({ min: 4, max: 200 }),
    default: '12',
  }),
  bodyMaxBytes: define({
    env: 'YARD_BODY_MAX_BYTES',
    about: 'The largest request body the API reads.',
    parse: integer({ min: 1_024, max: 16_777_216 }),
    default: '1048576',
  }),
  trustedProxies: define({
    env: 'YARD_TRUSTED_PROXIES',
    about: 'How many proxies in front of the API append to X-Forwarded-For. 0 ignores the header.',
    parse: integer({ min: 0, max: 10 }),
    default: '0',
  }),
  authFailuresPerMinute: define({
    env: 'YARD_AUTH_FAILURES_PER_MINUTE',
    about:
      'Wrong keys, and webhooks that are not believed, that one address may send in a minute before it is answered 429.',
    parse: integer({ min: 1, max: 10_000 }),
    default: '20',
  }),
  hookCallsPerMinute: define({
    env: 'YARD_HOOK_CALLS_PER_MINUTE',
    about: 'Incoming webhooks that one API process takes in a minute for one tool before it answers 429.',
    parse: integer({ min: 1, max: 1_000_000 }),
    default: '600',
  }),
  embeddingsUrl: define({
    env: 'YARD_EMBEDDINGS_URL',
    about:
      'An endpoint that speaks as OpenAI’s does, as https://api.example.com/v1/embeddings. Unset, the local model.',
    parse: endpoint('https:', 'http:'),
  }),
  embeddingsModel: define({
    env: 'YARD_EMBEDDINGS_MODEL',
    about: 'The model to be asked for at YARD_EMBEDDINGS_URL.',
    parse: text(),
    default: 'text-embedding-3-small',
  }),
  embeddingsDimensions: define({
    env: 'YARD_EMBEDDINGS_DIMENSIONS',
    about: 'How many numbers a vector of that model has.',
    parse: integer({ min: 1, max: 8_192 }),
    default: '1536',
  }),
  embeddingsKey: define({
    env: 'YARD_EMBEDDINGS_KEY',
    about: 'The key for YARD_EMBEDDINGS_URL, sent as a bearer token. Unset, none is sent.',
    parse: secretToken(),
    secret: true,
  }),
  keepInvocationsDays: define({
    env: 'YARD_KEEP_INVOCATIONS_DAYS',
    about: 'How many days invocations, with their params, results and attempts, are kept after their end.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '30',
  }),
  keepRawOutputDays: define({
    env: 'YARD_KEEP_RAW_OUTPUT_DAYS',
    about: 'How many days what a tool wrote is kept for operators; never longer than its invocation.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '7',
  }),
  keepDeliveriesDays: define({
    env: 'YARD_KEEP_DELIVERIES_DAYS',
    about: 'How many days messages to webhooks are kept in the lists after they ended.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '30',
  }),
  keepTopicsDays: define({
    env: 'YARD_KEEP_TOPICS_DAYS',
    about: 'How many days the memory of a topic is kept after the last call in it.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '90',
  }),
  keepLessonsDays: define({
    env: 'YARD_KEEP_LESSONS_DAYS',
    about: 'How many days what searches have taught is kept, with the words that were searched for.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '90',
  }),
  keepTicksDays: define({
    env: 'YARD_KEEP_TICKS_DAYS',
    about: 'How many days it is known what became of each tick of a cron tool.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '30',
  }),
  keepPromptsDays: define({
    env: 'YARD_KEEP_PROMPTS_DAYS',
    about: 'How many days prompts are kept, also those that nobody has claimed.',
    parse: integer({ min: 1, max: 3_650 }),
    default: '30',
  }),
  keepToolStateDays: define({
    env: 'YARD_KEEP_TOOL_STATE_DAYS',
    about: 'How many days the state that a cron tool left for its next run is kept; seven at most.',
    parse: integer({ min: 1, max: 7 }),
    default: '7',
  }),
  keepAuditDays: define({
    env: 'YARD_KEEP_AUDIT_DAYS',
    about: 'How many days the audit of administration is kept.',
    parse: integer({ min: 1, max: 36_500 }),
    default: '365',
  }),
} as const

export type SettingName = keyof typeof settings
export type ValueOf<S> = S extends { parse: z.ZodType<infer T, string> }
  ? S extends { default: string }
    ? T
    : T | undefined
  : never
export type Config<N extends SettingName> = { readonly [K in N]: ValueOf<(typeof settings)[K]> }
