import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocs } from './docs.ts'

const files = {
  'libs/db/src/pool.ts': '',
  'libs/queue/src/queue.ts': '',
  'docs/ARCHITECTURE.md': '',
  'docs/path.svg': '',
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
      '[a](docs/ARCHITECTURE.md#levels) [b](#top) [c](https://example.com/docs/x) [d](/docs/path.svg) [e](docs/)',
    ),
    [],
  )
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
