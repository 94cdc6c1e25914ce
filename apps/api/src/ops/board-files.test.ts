import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { refusalOf } from '../fixtures/answers.ts'
import { sessionOf } from '../fixtures/browser.ts'
import { testApi } from '../fixtures/test-api.ts'
import { makeKey } from '../fixtures/test-keys.ts'
import { boardFolder } from './board-files.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const viewer = await makeKey(pool, { scopes: ['ops:view'] })
const headers = await sessionOf(url, viewer.token)
const base = `${url}/ops/queues/`
const get = (path: string) => fetch(new URL(path, base), { headers })

const onEveryPage = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

function assertHeaders(answer: Response, more: Record<string, string>): void {
  for (const [name, value] of Object.entries({ ...onEveryPage, ...more }))
    assert.equal(answer.headers.get(name), value, `${answer.url} ${name}`)
}

// Names of XML, and words for people: none of them is ever fetched. Whatever a release adds is looked at before it is
// put here; the policy of the page would stop it all the same.
const harmless = [
  /^http:\/\/www\.w3\.org\//,
  /^http:\/\/json-schema\.org\/draft-07\/schema#/,
  /^https?:\/\/(?:react\.dev|reactjs\.org|react\.i18next\.com|fb\.me|bit\.ly|redux\.js\.org|redux-toolkit\.js\.org)\//,
  /^https:\/\/(?:base-ui\.com\/production-error|reactflow\.dev|\$\{\w+\}flow\.dev)/,
  /^https:\/\/(?:github\.com\/(?:felixmosh|highlightjs|MikeMcl)|felixmosh\.github\.io)\//,
  /^http:\/\/(?:fake\.com|localhost|\$\{\w+\.url\})/,
  /^https?:\/\/$/,
]

test('the page is ours alone: no script in it, nothing from elsewhere, and a policy that says so', async () => {
  for (const path of ['/ops/queues', '/ops/queues/queue/invocations', '/ops/queues/metrics-history']) {
    const answer = await get(path)
    const html = await answer.text()
    assert.equal(answer.status, 200, path)
    assert.doesNotMatch(html, /https?:|(?:src|href)="\/\/|googleapis|<%|\son[a-z]+=/)
    assert.doesNotMatch(
      html,
      /<script(?! (?:id="__UI_CONFIG__" type="application\/json"|defer src="static\/))/,
    )
    assert.match(html, /<base href="\/ops\/queues\/" \/>/)
    assert.match(html, /<link href="static\/fonts\.css" rel="stylesheet">/)
    const policy = answer.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self'; worker-src 'self'; /)
    assert.match(policy, /; connect-src 'self'; .*form-action 'none'; frame-ancestors 'none'$/)
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe/)
    assertHeaders(answer, { 'cache-control': 'no-store' })
  }
})

test('every file that the page can ask for comes from here and names no other host to load from', async () => {
  const html = await (await get('/ops/queues')).text()
  const named = [...html.matchAll(/(?:src|href)="(static\/[^"]*)"/g)].map((match) => match[1] ?? '')
  const sheet = await (await get('static/fonts.css')).text()
  const fonts = [...sheet.matchAll(/url\('([^']+)'\)/g)].map((match) => `static/${match[1]}`)
  assert.equal(fonts.length, 5)
  const shipped = readdirSync(new URL('static/', boardFolder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:css|js|json|svg|png)$/.test(path))
    .map((path) => `static/${path}`)
  assert.ok(shipped.length > 40 && named.length >= 7)
  const types = new Set<string>()
  for (const path of new Set([...named, ...fonts, ...shipped])) {
    const answer = await get(path)
    const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
    assert.equal(answer.status, 200, path)
    assert.ok(text.length > 10, path)
    assertHeaders(answer, { 'cache-control': 'private, max-age=3600' })
    types.add(answer.headers.get('content-type') ?? '')
    if (path.endsWith('.woff2')) assert.equal(text.slice(0, 4), 'wOF2')
    if (/\.(?:png|woff2)$/.test(path)) continue
    const urls = [...text.matchAll(/(?:https?:)?\/\/(?=[\w$])[^\s"'`)<>\\,;]*|https?:\/\//g)].map(
      ([found]) => found,
    )
    if (path.endsWith('.css')) assert.doesNotMatch(text, /url\(["']?(?:https?:)?\/\/|@import/, path)
    const odd = urls.filter((each) => each.startsWith('http') && !harmless.some((known) => known.test(each)))
    assert.deepEqual(odd, [], path)
  }
  assert.deepEqual([...types].toSorted(), [
    'application/json',
    'font/woff2',
    'image/png',
    'image/svg+xml',
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
  ])
})

test('nothing else of the installed packages is served', async () => {
  for (const path of [
    'static/../index.ejs',
    'static/..%2findex.ejs',
    'static/%2e%2e/index.ejs',
    'static/js/main.js.LICENSE.txt',
    'static/js/434.cf3361192c.js.LICENSE.txt',
    'static/',
    'static/package.json',
    'static//etc/passwd',
    'index.ejs',
  ]) {
    const answer = await fetch(`${base}${path}`, { headers })
    assert.equal(await refusalOf(answer), '404 not_found', path)
  }
})

test('the pages with a form run no script and send their form here alone', async () => {
  for (const path of ['/ops/sign-in', '/ops/sign-out']) {
    const answer = await fetch(`${url}${path}`)
    const html = await answer.text()
    assert.equal(answer.status, 200)
    assert.doesNotMatch(html, /<script|https?:|\son[a-z]+=|style=/)
    assertHeaders(answer, {
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    })
  }
  const style = await fetch(`${url}/ops/form.css`)
  assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8')
  assert.doesNotMatch(await style.text(), /url\(|@import/)
})
