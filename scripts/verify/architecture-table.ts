// The house in one table. docs/ARCHITECTURE.md draws it; this is what is checked.

/** Lower levels first. A lib imports its own level and the ones before it; never in a circle. */
export const levels: readonly (readonly string[])[] = [
  ['contract', 'config', 'log'],
  ['db', 'queue', 'sandbox', 'sanitize'],
  [
    'catalog',
    'vault',
    'access',
    'invocations',
    'memory',
    'relevance',
    'webhooks',
    'schedules',
    'ends',
    'service',
  ],
]

/** The first level stands alone: its libs may share these words and nothing else. */
export const sharedByLowest = 'contract'

export const apps: readonly string[] = ['api', 'worker', 'scheduler']

/** Real services for tests. Outside the levels: it may import any lib, and only development files may import it. */
export const testkit = 'testkit'

/** Who may speak to what: a client that is used in two places is a client that cannot be replaced. */
const clientOwners: readonly { packages: readonly string[]; owner: string }[] = [
  { packages: ['pg', 'pg-*'], owner: 'libs/db' },
  { packages: ['bullmq', 'ioredis'], owner: 'libs/queue' },
  { packages: ['dockerode'], owner: 'libs/sandbox' },
  { packages: ['hono', '@hono/*', '@bull-board/*', '@modelcontextprotocol/*'], owner: 'apps/api' },
  { packages: ['pino', 'pino-*', 'prom-client', '@opentelemetry/*'], owner: 'libs/log' },
  { packages: ['@node-rs/argon2'], owner: 'libs/access' },
  { packages: ['cron-parser'], owner: 'libs/schedules' },
  { packages: ['@energetic-ai/*'], owner: 'libs/relevance' },
  { packages: ['sanitize-html'], owner: 'libs/sanitize' },
]

/** Everything else gets its values as parameters. */
const environmentReaders = [
  /^apps\/[^/]+\/src\/main\.ts$/,
  /^scripts\//,
  /^libs\/testkit\//,
  /^libs\/config\/.+\.test\.ts$/,
]

/** Tests, and the suites of behaviour that the tests of several implementations share. */
const testFiles = [/\.test\.ts$/, /-suite\.ts$/, /^libs\/[^/]+\/src\/contract\//, /^test\//]

const developmentFiles = [...testFiles, /^(?:scripts|libs\/testkit)\//, /\/(?:fixtures|bench|test)\//]

export const isTestFile = (path: string) => testFiles.some((pattern) => pattern.test(path))

export const mayReadEnvironment = (path: string) => environmentReaders.some((pattern) => pattern.test(path))

/** Files that no running service loads. */
export const isDevelopmentFile = (path: string) => developmentFiles.some((pattern) => pattern.test(path))

/** Scripts may, but for those that keep an installation running: nothing of theirs is there for tests. */
export const mayImportTestkit = (path: string) =>
  isDevelopmentFile(path) &&
  (!path.startsWith('scripts/services/') || isTestFile(path) || /\/fixtures\//.test(path))

export const levelOf = (lib: string) => levels.findIndex((names) => names.includes(lib))

export const ownerOf = (packageName: string) =>
  clientOwners.find((row) => row.packages.some((pattern) => matchesName(pattern, packageName)))?.owner

const matchesName = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
