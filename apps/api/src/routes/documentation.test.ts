import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { refusalOf } from '../fixtures/answers.ts'
import { bareApi } from '../fixtures/bare-api.ts'
import { testApi } from '../fixtures/test-api.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })

const operation = z.looseObject({
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  summary: z.string().min(5),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(2) })),
})
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

async function readOperations() {
  const document = documentShape.parse(await (await fetch(`${url}/openapi.json`)).json())
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  )
}

// What a person opens in a browser, and the document itself.
const undocumented = /^GET \/(?:openapi\.json|docs(?:\/.*)?)$|^[A-Z]+ \/ops\//

test('the document is valid OpenAPI 3.1', async () => {
  const answer = await fetch(`${url}/openapi.json`)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  const validator = new Validator()
  // safe because it is checked next
  const document = (await answer.json()) as Record<string, unknown>
  const result = await validator.validate(document)
  assert.deepEqual(result, { valid: true })
  assert.equal(validator.version, '3.1')
})

test('the document describes every route', async () => {
  const { api, close } = bareApi(pool)
  await close()
  const registered = api.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`)
    .filter((route) => !undocumented.test(route))
  const described = (await readOperations()).map(({ method, path }) => `${method} ${path}`)
  assert.ok(described.length >= 8)
  assert.deepEqual([...new Set(registered)].toSorted(), described.toSorted())
})

test('the patterns that are described are those that hold', async () => {
  const text = await (await fetch(`${url}/openapi.json`)).text()
  const patterns = new Set<string>()
  JSON.parse(text, (name, value: unknown) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  assert.ok(patterns.size >= 2)
  // A name, and the beginning of a hash.
  for (const pattern of patterns) {
    const described = new RegExp(pattern, 'u')
    assert.ok(
      ['crow-7', 'c0ffee'].some((sample) => described.test(sample)),
      pattern,
    )
    assert.ok(!described.test('\0'), pattern)
  }
})

test('what is described as behind a key is; the two checks of health are not, and messages prove themselves', async () => {
  const open: string[] = []
  for (const { path, method, described } of await readOperations()) {
    if (path === '/hooks/{tool}') {
      const ways = described.security?.flatMap((way) => Object.keys(way)) ?? []
      assert.ok(ways.length >= 5 && ways.every((way) => way.startsWith('hook_')))
      const answer = await fetch(`${url}/hooks/x`, { method })
      assert.equal(await refusalOf(answer), '401 unauthenticated')
      continue
    }
    if (described.security === undefined) {
      open.push(path)
      continue
    }
    assert.deepEqual(described.security, [{ key: [] }])
    for (const status of ['401', '403', '429', '503'])
      assert.ok(described.responses[status], `${path} ${status}`)
    const answer = await fetch(`${url}${path.replaceAll(/\{.+?\}/g, 'x')}`, { method })
    assert.equal(await refusalOf(answer), '401 unauthenticated', `${method} ${path}`)
  }
  assert.deepEqual(open, ['/healthz', '/readyz'])
})

test('the page and all it needs come from here', async () => {
  const answer = await fetch(`${url}/docs`)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; script-src 'self'; /)
  assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/)
  const html = await answer.text()
  assert.doesNotMatch(html, /\/\/|<script>|\son[a-z]+=/)
  const needed = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1] ?? '')
  assert.equal(needed.length, 4)
  const types = await Promise.all(
    needed.map(async (path) => {
      const asset = await fetch(`${url}${path}`)
      const text = await asset.text()
      assert.equal(asset.status, 200, path)
      assert.equal(asset.headers.get('x-content-type-options'), 'nosniff')
      if (path.endsWith('.css')) assert.doesNotMatch(text, /url\(["']?(?:https?:)?\/\//)
      return asset.headers.get('content-type')
    }),
  )
  assert.deepEqual(types, [
    'image/png',
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
    'text/javascript; charset=utf-8',
  ])
  const start = await (await fetch(`${url}/docs/start.js`)).text()
  assert.doesNotMatch(start, /https?:/)
  assert.match(start, /validatorUrl: null/)
})

test('nothing else of the installed package is served', async () => {
  for (const path of [
    'package.json',
    'swagger-ui.js',
    'index.html',
    '..%2fpackage.json',
    '%2e%2e/package.json',
    '',
  ]) {
    const answer = await fetch(`${url}/docs/${path}`)
    assert.equal(await refusalOf(answer), '404 not_found', path)
  }
})
