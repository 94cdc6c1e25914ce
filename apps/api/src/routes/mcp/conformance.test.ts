import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import type { Act } from '../../fixtures/acting-tools.ts'
import { actingTools } from '../../fixtures/acting-tools.ts'
import { keyedProxy } from '../../fixtures/keyed-proxy.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

// Programs of others against the server: the official conformance suite, and the command line of the inspector.

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, {
  scopes: ['tools:read', 'tools:invoke', 'invocations:read', 'invocations:raw'],
})

const simple = 'This is a simple text response for testing.'
// What the suite wants of tools of these names, as far as a tool of ours can be that.
const acts: Record<string, Act> = {
  test_simple_text: () => ({ text: simple }),
  test_error_handling: () => ({ text: 'This tool intentionally returns an error for testing', fails: true }),
  test_tool_with_progress: () => ({ text: 'done', ms: 1_500 }),
  // What comes with the answers of these two is looked at.
  test_logging_tool: () => ({ text: 'done' }),
  test_streaming_elicitation: () => ({ text: 'done' }),
  greet: ({ name }) => ({ text: `Hello, ${String(name)}!` }),
  slow_compute: ({ seconds }) => ({ text: 'computed', ms: Number(seconds) * 1_000 }),
  failing_job: () => ({ text: 'This job fails', fails: true, ms: 1_000 }),
}
const parameters: Record<string, object> = {
  greet: { name: { type: 'string', required: true } },
  slow_compute: { seconds: { type: 'number', required: true }, label: { type: 'string' } },
}
const names = Object.keys(acts)
await publishTools(
  pool,
  names.map((name) => newManifest(name, { parameters: parameters[name] ?? {} })),
)
for (const name of names) await buildTool(pool, name)
after(await actingTools(pool, acts))

const run = promisify(execFile)

test('the conformance suite passes but for the scenarios that are named with their reasons', async () => {
  const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
  const expected = fileURLToPath(new URL('conformance-expected.yaml', import.meta.url))
  const address = `${await keyedProxy(url, token)}/mcp`
  const given = ['server', '--url', address, '--suite', 'all', '--expected-failures', expected]
  const options = { cwd: tmpdir(), timeout: 180_000, maxBuffer: 64 * 1024 * 1024 }
  const { failed, stdout } = await new Promise<{ failed: boolean; stdout: string }>((resolve) => {
    execFile(process.execPath, [suite, ...given], options, (error, written) =>
      resolve({ failed: error !== null, stdout: written }),
    )
  })
  const summary = stdout.slice(stdout.indexOf('=== SUMMARY'))
  assert.equal(failed, false, summary)
  const [, passed = '0'] = /^Total: (\d+) passed/m.exec(stdout) ?? []
  assert.ok(Number(passed) >= 151, summary)
})

test('the inspector lists the tools, calls one and reads what it has left', async () => {
  const inspector = fileURLToPath(
    import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  )
  const inspect = async (...given: string[]): Promise<unknown> => {
    const headers = ['--transport', 'http', '--header', `Authorization: Bearer ${token}`]
    const { stdout } = await run(
      process.execPath,
      [inspector, '--cli', `${url}/mcp`, ...headers, '--method', ...given],
      // It keeps a file in the home of whoever runs it.
      { cwd: tmpdir(), timeout: 60_000, env: { HOME: tmpdir(), PATH: dirname(process.execPath) } },
    )
    return JSON.parse(stdout)
  }
  const listShape = z.object({ tools: z.array(z.object({ name: z.string() })) })
  const { tools } = listShape.parse(await inspect('tools/list'))
  assert.deepEqual(
    tools.map(({ name }) => name),
    names.toSorted(),
  )
  const callShape = z.object({ structuredContent: z.object({ invocation_id: z.string(), text: z.string() }) })
  const call = ['tools/call', '--tool-name', 'greet', '--tool-arg', 'name=Ada']
  const { invocation_id: id, text } = callShape.parse(await inspect(...call)).structuredContent
  assert.equal(text, 'Hello, Ada!')
  const uri = `toolyard://invocations/${id}/result`
  const readShape = z.object({ contents: z.array(z.object({ text: z.string() })) })
  const { contents } = readShape.parse(await inspect('resources/read', '--uri', uri))
  assert.match(contents[0]?.text ?? '', /"status":"succeeded"/)
})
