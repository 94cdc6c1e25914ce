import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { coerceParams } from '@toolyard/contract/coerce-params'
import { findTool, openTool, toolsDir } from './fixtures/run-tool.ts'

const names = readdirSync(toolsDir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^[._]/.test(entry.name))
  .map(({ name }) => name)

test('the tools that come with the product are there, in bash, Python and JavaScript', async () => {
  assert.deepEqual(names.toSorted(), [
    'calculator',
    'datetime',
    'digest',
    'html_extract',
    'http_get',
    'json_query',
    'text_search',
    'tool_example',
  ])
  const dockerfiles = names.map((name) => readFileSync(join(toolsDir, name, 'Dockerfile'), 'utf8'))
  for (const base of ['shell', 'python', 'node'])
    assert.ok(
      dockerfiles.some((dockerfile) => dockerfile.startsWith(`FROM toolyard/base-${base}\n`)),
      base,
    )
})

test('every manifest is valid and says enough to choose and to use its tool', async () => {
  for (const name of names) {
    const { manifest } = await findTool(name)
    assert.equal(manifest.$schema, '../manifest.schema.json', name)
    assert.ok(manifest.description.length >= 60, name)
    assert.ok(manifest.examples.length > 0, name)
    if (name !== 'tool_example') assert.ok((manifest.documentation ?? '').length >= 100, name)
    for (const [parameter, { description }] of Object.entries(manifest.parameters))
      assert.ok((description ?? '').length > 5, `${name}.${parameter}`)
    for (const { params } of manifest.examples) {
      const coerced = coerceParams(manifest.parameters, params)
      assert('params' in coerced, `${name}: ${JSON.stringify(coerced)}`)
    }
  }
})

test('the first example of every tool runs in the sandbox, without a network too where that can be', async (t) => {
  for (const name of names) {
    const running = await openTool(t, name)
    const params = running.tool.manifest.examples[0]?.params ?? {}
    const output = await running.call(params)
    const mebibytes = Math.round(running.memoryPeakBytes() / 1_048_576)
    t.diagnostic(`${name}: ${mebibytes} MiB of ${running.tool.manifest.sandbox.memory}`)
    if (name === 'http_get') {
      assert(output.status === 'failure')
      assert.equal(output.failure_class, 'external')
      assert.match(output.message, /^The host example\.com could not be looked up .*there is no network\.$/)
    } else {
      assert.equal(output.status, 'success', `${name}: ${JSON.stringify(output)}`)
    }
  }
})
