import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocs } from './docs.ts'

const files = {
  'libs/db/src/pool.ts': '',
  'libs/queue/src/queue.ts': '',
  'docs/ARCHITECTURE.md': '# Architecture\n\n## Levels\n',
  'docs/path.svg': '',
  'docs/configuration.md':
    '| `YARD_PORT` | 8080 |\n| `YARD_KEYS` (secret) | |\n| `YARD_KEEP_LOGS_DAYS` | |\n',
  'scripts/yard/commands.ts':
    'export const commands: Commands = {\n  up: {\n  },\n  tool: {\n  },\n  key: {\n  },\n}\n',
  'scripts/yard/tool.ts': "const verbs: Record<string, Verb> = {\n  list: {\n  },\n  'new-one': {\n  },\n}\n",
  'scripts/yard/key.ts': "if (verb === 'create') create()\n",
  'apps/api/src/routes/tools.ts': [
    "const list = { method: 'get', path: '/tools' }",
    "const one = { method: 'get',\n  path: '/tools/{name}' }",
    "const invoke = { method: 'post', path: '/tools/{name}/invoke' }",
    "const turn = (verb: 'on' | 'off') => ({ method: 'post', path: `/tools/{name}/${verb}` })",
    "const mcp = { method, path: '/mcp' }",
    "api.get('/openapi.json', () => {})",
  ].join('\n'),
  'apps/api/src/routes/tools.test.ts': "const gone = { method: 'get', path: '/gone' }",
}

const faultsOf = (changes: Record<string, string>) =>
  checkDocs(new Map(Object.entries({ ...files, ...changes }))).map(
    (fault) => `${fault.path}:${fault.line} ${fault.rule}`,
  )

const inReadme = (text: string) => faultsOf({ 'README.md': text })

test('a path in a code span exists', () => {
  assert.deepEqual(inReadme('\nsee `libs/db/src/pond.ts`'), ['README.md:2 doc-path'])
  assert.deepEqual(inReadme('``libs/gone/x.ts``'), ['README.md:1 doc-path'])
  assert.deepEqual(inReadme('`node --test libs/gone/src/x.test.ts`'), ['README.md:1 doc-path'])
  assert.deepEqual(
    inReadme(
      '`libs/db/src/pool.ts`, `./libs/db`, `libs/db/`, `libs/db/src/pool.ts:12`, `libs/db/src/pool.ts#L3-L5`',
    ),
    [],
  )
})

test('a path in a fenced block exists', () => {
  assert.deepEqual(inReadme('```sh\nnode scripts/gone.ts\n```\nscripts/gone.ts in prose'), [
    'README.md:2 doc-path',
  ])
  assert.deepEqual(inReadme('~~~\nlibs/db   the pool\n~~~'), [])
})

test('a pattern matches something', () => {
  assert.deepEqual(
    inReadme('`libs/*/src/*.ts` `libs/<name>/src` `libs/{db,queue}/src` `libs/**/*.ts` `libs/…/pool.ts`'),
    [],
  )
  assert.deepEqual(inReadme('`libs/*/gone/*.ts`'), ['README.md:1 doc-path'])
  assert.deepEqual(inReadme('`libs/{db,gone}/src`'), ['README.md:1 doc-path'])
})

test('what only looks like a path is let be', () => {
  assert.deepEqual(
    inReadme(
      '`POST /tools/{name}/invoke` `http://127.0.0.1:8080/tools/x` `tools/call` `application/json` `and/or`',
    ),
    [],
  )
})

test('a relative link leads somewhere', () => {
  assert.deepEqual(inReadme('[a](docs/gone.md)'), ['README.md:1 doc-path'])
  assert.deepEqual(inReadme('![a](./docs/gone.svg "title")'), ['README.md:1 doc-path'])
  assert.deepEqual(inReadme('[a]: docs/gone.md'), ['README.md:1 doc-path'])
  assert.deepEqual(inReadme('<img src="docs/gone.svg">'), ['README.md:1 doc-path'])
  assert.deepEqual(
    faultsOf({ 'docs/guide/a.md': '[a](../ARCHITECTURE.md) [b](../../libs/db) [c](ARCHITECTURE.md)' }),
    ['docs/guide/a.md:1 doc-path'],
  )
  assert.deepEqual(
    inReadme(
      '[a](docs/ARCHITECTURE.md#levels) [c](https://example.com/docs/x#y) [d](/docs/path.svg#y) [e](docs/)',
    ),
    [],
  )
})

test('the anchor of a link is a heading of its page', () => {
  for (const link of ['(#gone)', '(docs/ARCHITECTURE.md#gone)', '(docs/ARCHITECTURE.md#Levels)'])
    assert.deepEqual(inReadme(`# Top\n[a]${link}`), ['README.md:2 doc-anchor'], link)
  assert.deepEqual(inReadme('[a]: docs/ARCHITECTURE.md#gone'), ['README.md:1 doc-anchor'])
  assert.deepEqual(inReadme('```\n# Top\n```\n[a](#top)'), ['README.md:4 doc-anchor'])
  // One fault says it all.
  assert.deepEqual(inReadme('[a](docs/gone.md#gone)'), ['README.md:1 doc-path'])
  const headings = {
    'the-yard': '## The yard',
    'yard-up---detach': '### `./yard up --detach`',
    'what-it-isn’t-and-is': '# What it isn’t, and is',
    'see-levels': '## See [Levels](docs/ARCHITECTURE.md) ##',
    here: 'text <a id="here"></a>',
  }
  for (const [anchor, heading] of Object.entries(headings)) {
    const link = anchor.replace('’', '')
    assert.deepEqual(inReadme(`${heading}\n[a](#${link})`), [], anchor)
  }
  assert.deepEqual(inReadme('# A\n# A\n[a](#a) [b](#a-1)'), [])
  assert.deepEqual(inReadme('# A\n# A\n[c](#a-2)'), ['README.md:3 doc-anchor'])
})

test('a setting that is named exists', () => {
  for (const text of ['set YARD_PROT', '`YARD_PORT_FILE`', '```\nYARD_PROT=1 ./yard up', 'YARD_DROP_*'])
    assert.deepEqual(inReadme(text), [`README.md:${text.split('\n').length} doc-setting`], text)
  assert.deepEqual(
    inReadme(
      '`YARD_PORT` YARD_KEYS `YARD_KEYS_FILE` `YARD_KEEP_…_DAYS` YARD_KEEP_* `YARD_…` TOOLYARD_ATTEMPT',
    ),
    [],
  )
})

test('a command that is named exists', () => {
  const unknown = ['`./yard pu`', '`./yard tool lits`', '`./yard key crate`', '`A=1 B=2 ./yard pu`']
  for (const text of [...unknown, '`cd x && ./yard pu`', '`sudo ./yard pu`', '```\n$ ./yard pu'])
    assert.deepEqual(inReadme(text), [`README.md:${text.split('\n').length} doc-command`], text)
  const known = [
    '`./yard up -d`',
    '`./yard up now`',
    '`./yard tool list`',
    '`./yard tool NAME`',
    '`./yard help`',
  ]
  for (const text of [
    ...known,
    '`./yard tool new-one X`',
    '`./yard tool help`',
    '`./yard`',
    'what ./yard does',
  ])
    assert.deepEqual(inReadme(text), [], text)
  assert.deepEqual(inReadme('```\nscripts/yard/tool.ts   what ./yard does\n```'), [])
})

test('a route that is named exists', () => {
  const unknown = ['GET /tool', 'PATCH /tools', 'POST /tools/{name}/invoek', 'GET /tools/a/b', 'GET /gone']
  for (const route of [...unknown, 'PUT /openapi.json'])
    assert.deepEqual(inReadme(`see \`${route}\``), ['README.md:1 doc-route'], route)
  assert.deepEqual(inReadme('```\ncurl http://127.0.0.1:8080/tool\n```'), ['README.md:2 doc-route'])
  const known = [
    'GET /tools?format=x',
    'GET /tools/echo',
    'POST /tools/<tool>/invoke',
    'POST /tools/NAME/off',
  ]
  for (const route of [...known, 'DELETE /mcp', 'GET /openapi.json', 'curl 127.0.0.1:8080'])
    assert.deepEqual(inReadme(`see \`${route}\``), [], route)
  // What is sent to others is not ours.
  assert.deepEqual(inReadme('```http\nPOST /receiver HTTP/1.1\n```'), [])
})

test('decisions are named, numbered without gaps and short', () => {
  const decision = (name: string, text = 'why') => ({ [`docs/decisions/${name}`]: text })
  assert.deepEqual(faultsOf({ ...decision('0001-one.md'), ...decision('0002-two-words.md') }), [])
  assert.deepEqual(faultsOf(decision('0002-two.md')), ['docs/decisions/0002-two.md:1 decision'])
  assert.deepEqual(faultsOf({ ...decision('0001-one.md'), ...decision('0001-uno.md') }), [
    'docs/decisions/0001-uno.md:1 decision',
  ])
  for (const name of ['1-one.md', '0001_one.md', '0001-One.md', 'README.md', '0001-one.txt']) {
    assert.deepEqual(faultsOf(decision(name)), [`docs/decisions/${name}:1 decision`])
  }
  assert.deepEqual(faultsOf(decision('0001-one.md', 'x\n'.repeat(41))), [
    'docs/decisions/0001-one.md:41 decision',
  ])
})

test('no file names a place on one machine or a registry', () => {
  const home = ['', 'work', 'main', 'x.ts'].join('/')
  const download = ['"resolved": "https', '//example.org/x.tgz"'].join(':')
  const host = ['registry', 'example', 'org'].join('.')
  const private_ = [
    home,
    ['', 'Users', 'ada'].join('/'),
    ['', 'tmp', 'shell_jobs'].join('/'),
    `https://${host}/pg`,
  ]
  for (const name of private_) {
    assert.deepEqual(
      faultsOf({ 'libs/db/src/x.ts': `\n// ${name}` }),
      ['libs/db/src/x.ts:2 private-name'],
      name,
    )
  }
  assert.deepEqual(faultsOf({ '.npmrc': 'registry=http://localhost' }), ['.npmrc:1 private-name'])
  assert.deepEqual(faultsOf({ 'package-lock.json': download }), ['package-lock.json:1 private-name'])
  assert.deepEqual(
    faultsOf({
      'package-lock.json': '"resolved": "libs/db"',
      'a.txt': 'network/work/x docs/work/y /workers/x',
    }),
    [],
  )
})
