import type { Tree } from './read-tree.ts'

const readme = '# A lib\n\nOwns a thing.\n\nMay import: level 1 to 3.\n'

const manifest = (name: string, rest: object = {}) =>
  JSON.stringify({ name: `@toolyard/${name}`, exports: {}, ...rest })

const house: Record<string, string> = {
  '.gitignore': 'node_modules/\n',
  'package.json': JSON.stringify({ name: 'toolyard', devDependencies: { zod: '1.0.0' } }),
  'libs/contract/package.json': manifest('contract', { dependencies: { zod: '1.0.0' } }),
  'libs/contract/README.md': readme,
  'libs/log/package.json': manifest('log', { dependencies: { '@toolyard/contract': '*', pino: '1.0.0' } }),
  'libs/log/README.md': readme,
  'libs/db/package.json': manifest('db', {
    exports: { './pool': './src/pool.ts' },
    dependencies: { '@toolyard/contract': '*', '@toolyard/queue': '*', '@toolyard/access': '*', pg: '1.0.0' },
    devDependencies: { autocannon: '1.0.0' },
  }),
  'libs/db/README.md': readme,
  'libs/db/src/pool.ts': "import pg from 'pg'\nexport const createPool = () => new pg.Pool()\n",
  'libs/queue/package.json': manifest('queue', { dependencies: { '@toolyard/db': '*', pg: '1.0.0' } }),
  'libs/queue/README.md': readme,
  'libs/access/package.json': manifest('access', {
    dependencies: { '@toolyard/db': '*', '@toolyard/api': '*' },
  }),
  'libs/access/README.md': readme,
  'libs/testkit/package.json': manifest('testkit', { dependencies: { '@toolyard/db': '*' } }),
  'libs/testkit/README.md': readme,
  'libs/testkit/src/database.ts':
    "import { createPool } from '@toolyard/db/pool'\nexport const testPool = () => createPool()\n",
  'apps/api/package.json': manifest('api', {
    dependencies: { '@toolyard/access': '*', '@toolyard/worker': '*', hono: '1.0.0' },
  }),
  'apps/api/src/main.ts': "import { keys } from '@toolyard/access/keys'\nkeys(process.env)\n",
  'apps/worker/package.json': manifest('worker'),
}

/** A small house without a fault, and what a test changes in it: a text puts a file there, undefined takes it away. */
export function plantedTree(changes: Record<string, string | undefined> = {}): Tree {
  const tree = new Map(Object.entries(house))
  for (const [path, text] of Object.entries(changes)) {
    if (text === undefined) tree.delete(path)
    else tree.set(path, text)
  }
  return tree
}
