import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeImagesAfter } from '../fixtures/remove-images-after.ts'
import type { Yard } from '../fixtures/yard.ts'
import { runningYard, succeeded } from '../fixtures/yard.ts'
import { shellTool, writeTool } from './fixtures/write-tool.ts'

// The lines that people already type at tools of this shape, word for word; only the key and the port are others. They
// are documented elsewhere, so that they cannot change with this program.

const listTools = `curl http://localhost:8080/tools \\
     -H "Authorization: Bearer YOUR_API_KEY"`

const setConfig = `curl -X PUT http://localhost:8080/tools/my_tool/config \\
     -H "Authorization: Bearer YOUR_API_KEY" \\
     -H "Content-Type: application/json" \\
     -d '{"api_key": "sk-...", "endpoint": "https://..."}'`

const testConfig = `curl -X POST http://localhost:8080/tools/my_tool/test \\
     -H "Authorization: Bearer YOUR_API_KEY"`

const getConfig = `curl http://localhost:8080/tools/my_tool/config \\
     -H "Authorization: Bearer YOUR_API_KEY"`

const deleteKey = `curl -X DELETE http://localhost:8080/tools/my_tool/config/api_key \\
     -H "Authorization: Bearer YOUR_API_KEY"`

const withoutKey = [
  'curl http://localhost:8080/tools/my_tool/config',
  'curl -X POST http://localhost:8080/tools/my_tool/test',
]

const config_schema = {
  api_key: { description: 'Your API key', secret: true, required: true },
  endpoint: { description: 'API endpoint URL', secret: false, default: 'https://api.example.com' },
}

test('the known lines list, configure, test and forget; those without a key are told that they need one', async (t) => {
  const yard = await runningYard(t)
  removeImagesAfter(t, yard)
  writeTool(yard.toolDir, 'my_tool', shellTool(`echo '{"text": "done"}'`), { config_schema })
  succeeded(await yard.run(['tool', 'build', 'my_tool']))
  const type = typist(yard)
  const status = () => {
    const { tools, count } = type(listTools, 200)
    assert.deepEqual([count, tools[0].name], [1, 'my_tool'])
    return tools[0].status
  }

  assert.equal(status(), 'available')
  const keys = ['api_key', 'endpoint']
  assert.deepEqual(type(setConfig, 200), { saved: true, tool_name: 'my_tool', keys })
  assert.deepEqual(type(testConfig, 200), { ok: true, message: 'Configuration looks complete' })
  const { tool_name: name, config_schema: schema, config } = type(getConfig, 200)
  assert.equal(name, 'my_tool')
  assert.deepEqual(Object.keys(schema), keys)
  assert.deepEqual(config, { api_key: '***', endpoint: 'https://...' })
  assert.equal(status(), 'connected')
  assert.deepEqual(type(deleteKey, 200), { deleted: true, tool_name: 'my_tool', key: 'api_key' })
  assert.equal(type(testConfig, 200).ok, false)
  assert.equal(status(), 'available')

  for (const line of withoutKey) {
    const { status: code, code: kind, detail } = type(line, 401)
    assert.deepEqual([code, kind], [401, 'unauthenticated'])
    assert.match(detail, /Authorization: Bearer/)
  }
})

/** Gives what is answered to a line, which must be JSON with this status. */
function typist({ dataDir, url }: Yard) {
  const key = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()
  return (line: string, status: number) => {
    const typed = line.replaceAll('YOUR_API_KEY', key).replaceAll(':8080/', `:${new URL(url).port}/`)
    const { stdout } = spawnSync('sh', ['-c', `${typed} --silent --write-out '\\n%{http_code}'`], {
      encoding: 'utf8',
    })
    const [body = '', code] = stdout.split(/\n(?=\d+$)/)
    assert.equal(code, String(status), `${line}\n${stdout}`)
    return JSON.parse(body)
  }
}
