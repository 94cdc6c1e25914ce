import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settings } from '@toolyard/config/settings'
import { testDatabase } from '@toolyard/testkit/database'
import { freePort } from '@toolyard/testkit/free-port'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { projectRoot } from '../services/installation/installation.ts'
import { askReadiness } from '../services/supervisor/readiness.ts'

// What docs/ops/deploying.md says of a start without `./yard up`: its lines are typed here, with no engine.

const page = readFileSync(join(projectRoot, 'docs/ops/deploying.md'), 'utf8')

const linesUnder = (mark: string) =>
  [...page.matchAll(new RegExp(`^<!-- ${mark} -->\\n\`\`\`sh\\n([^]*?)\\n\`\`\`$`, 'gm'))].flatMap(
    ([, text = '']) => text.split('\n'),
  )

test('the three processes start as the page says, find each other, and end in order', async (t) => {
  const database = await testDatabase()
  const port = await freePort()
  const started: ReturnType<typeof spawn>[] = []
  const folder = temporaryFolder(t, async () => {
    for (const child of started) child.kill('SIGKILL')
  })
  mkdirSync(join(folder, 'tools'))
  cpSync(join(projectRoot, 'tools/tool_example'), join(folder, 'tools/tool_example'), { recursive: true })
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: database.url,
    DOCKER_HOST: `unix://${join(folder, 'no-engine.sock')}`,
    YARD_DATA_DIR: folder,
    YARD_TOOL_DIRS: join(folder, 'tools'),
    YARD_PORT: String(port),
  }
  const typed = (line: string) =>
    line
      .replace(/^\.\/yard /, `${process.execPath} scripts/yard.ts `)
      .replace(/^node_modules\/\.bin\/node /, `${process.execPath} `)
  const said = linesUnder('run').map((line) =>
    execFileSync('sh', ['-c', typed(line)], { cwd: projectRoot, env, encoding: 'utf8' }),
  )
  assert.match(said[0] ?? '', /^The database is up to date\.$/m)
  assert.match(said[1] ?? '', /^yk_\w+\n$/)
  const lines = linesUnder('start')
  assert.equal(lines.length, 3)
  for (const line of lines)
    started.push(spawn('sh', ['-c', `exec ${typed(line)}`], { cwd: projectRoot, env, stdio: 'ignore' }))
  const url = `http://127.0.0.1:${port}`
  await waitUntil(
    'all three of them',
    async () => {
      for (const { exitCode } of started) assert.equal(exitCode, null)
      const { body } = await askReadiness(url)
      const told = JSON.stringify(body)
      return (
        told?.includes('"scheduler":{"state":"ready"') &&
        told.includes('"worker":{') &&
        told.includes('1 of 1')
      )
    },
    60_000,
  )
  const tools = await fetch(`${url}/tools`, { headers: { authorization: `Bearer ${said[1]?.trim()}` } })
  assert.equal(tools.status, 200)
  for (const child of started) child.kill('SIGTERM')
  for (const child of started) if (child.exitCode === null) await once(child, 'exit')
  assert.deepEqual(
    started.map(({ exitCode }) => exitCode),
    [0, 0, 0],
  )
})

test('the settings that the page names exist', () => {
  const known = new Set<string>(Object.values(settings).flatMap(({ env }) => [env, `${env}_FILE`]))
  const named = [...page.matchAll(/`((?:YARD|DATABASE|REDIS|DOCKER)_[A-Z_]+[A-Z])`/g)].map(
    ([, name = '']) => name,
  )
  assert.ok(named.length >= 10)
  for (const name of named) assert.ok(known.has(name), name)
})
