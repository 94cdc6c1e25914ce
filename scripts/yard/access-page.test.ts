import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { testDatabaseServer } from '@toolyard/testkit/environment'
import { z } from 'zod'
import { projectRoot } from '../services/installation/installation.ts'
import type { Api } from './api/open-api.ts'
import { startInstallation } from './fixtures/start-installation.ts'

// What docs/access.md says under `<!-- run -->` is typed here, beside an installation, and its table of the scopes is
// compared with the routes.

const page = readFileSync(join(projectRoot, 'docs/access.md'), 'utf8')
const rows = new Map(
  [...page.matchAll(/^\| `([a-z]+:[a-z]+)` \| (.+) \|$/gm)].map(([, scope = '', text = '']) => [scope, text]),
)

test('the lines of the page work as they stand, and the table has every scope with its routes', async (t) => {
  const { api, pool, url, folder, environment } = await startInstallation(t)
  const { rows: named } = await pool.query<{ name: string }>('select current_database() as name')
  const databaseUrl = new URL(testDatabaseServer())
  databaseUrl.pathname = named[0]?.name ?? ''
  const env = { ...process.env, NO_COLOR: '1', ...environment, DATABASE_URL: databaseUrl.href }
  const blocks = [...page.matchAll(/^<!-- run -->\n```sh\n([^]*?)\n```$/gm)].map(([, text = '']) => text)
  const lines = blocks.flatMap((block) => block.split('\n'))
  assert.equal(lines.length, (page.match(/^(?:curl|\.\/yard) /gm) ?? []).length)
  const answers = new Map<string, string>()
  let token = ''
  for (const line of lines) {
    const typed = line
      .replace(/^curl /, 'curl --silent --show-error --fail-with-body ')
      .replace(/^\.\/yard /, `${process.execPath} ${join(projectRoot, 'scripts/yard.ts')} `)
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('.toolyard/', `${folder}/`)
      .replaceAll('KEY_ID', token.split('_')[1] ?? '')
    const answer = execFileSync('sh', ['-c', typed], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    token = /yk_[0-9a-z]+_\w+/.exec(answer)?.[0] ?? token
    answers.set(line, answer)
  }
  const [created, listed, revoked, made, all, ended, audit] = [...answers.values()]
  assert.match(created ?? '', /^yk_\w+\n$/)
  assert.match(
    listed ?? '',
    /until 2099-01-01T00:00:00\.000Z {2}"agent" {2}tools:read,tools:invoke,invocations:read {2}topics home$/m,
  )
  assert.match(revoked ?? '', /^Revoked \w+ "agent"/)
  assert.deepEqual(JSON.parse(made ?? '').tools, ['tool_example'])
  assert.equal(JSON.parse(all ?? '').keys.length, 3)
  assert.notEqual(JSON.parse(ended ?? '').revoked_at, null)
  const actions = JSON.parse(audit ?? '').entries.map(({ action }: { action: string }) => action)
  assert.deepEqual(actions.slice(0, 4), ['key.revoke', 'key.create', 'key.revoke', 'key.create'])

  await assertRoutes(api)
})

/** Each route says in its description which scopes open it. */
async function assertRoutes(api: Api): Promise<void> {
  assert.deepEqual([...rows.keys()], [...scopes])
  const operation = z.looseObject({
    description: z.string().default(''),
    security: z.array(z.record(z.string(), z.unknown())).default([]),
  })
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), operation)) })
    .parse(await api.call('/openapi.json'))
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => ({ route: `${method.toUpperCase()} ${path}`, told })),
  )
  assert.ok(routes.length >= 50)
  for (const { route, told } of routes) {
    const { description, security } = told
    // What the protocol had once, and is answered that it has not.
    if (/^(?:GET|DELETE) \/mcp$/.test(route)) continue
    if (!security.some((way) => 'key' in way)) {
      assert.ok(page.includes(`\`${route}\``), route)
      continue
    }
    const [first = '', ...others] = [...description.matchAll(/`([a-z]+:[a-z]+)`/g)].map(
      ([, scope = '']) => scope,
    )
    assert.ok(rows.get(first)?.includes(`\`${route}\``), `${route} is not in the row of ${first}`)
    for (const other of others) assert.ok(rows.has(other), `${route}: ${other}`)
  }
  for (const [scope, text] of rows)
    for (const [, route = ''] of text.matchAll(/`([A-Z]+ \/[^`]*)`/g))
      assert.ok(
        routes.some((one) => one.route === route && one.told.description.includes(scope)) ||
          route === 'POST /mcp',
        `${scope}: ${route}`,
      )
}
