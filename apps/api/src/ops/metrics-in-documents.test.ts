import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createMetrics } from '@toolyard/log/metrics'
import { z } from 'zod'
import { gauges } from './gauges.ts'

const root = new URL('../../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const dashboard = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string().min(3),
      targets: z.array(z.object({ expr: z.string() })).optional(),
    }),
  ),
})

/** Of every metric that the code defines, the series that Prometheus sees. */
async function definedSeries(): Promise<Set<string>> {
  const series = new Set(Object.keys(gauges).map((name) => `toolyard_${name}`))
  for (const path of globSync('{apps,libs}/*/src/**/*.ts', { cwd: root })) {
    if (path.endsWith('.test.ts')) continue
    for (const [, kind, name] of read(path).matchAll(/\.(counter|gauge|histogram)\(\s*'([a-z0-9_]+)'/g)) {
      const suffixes = kind === 'histogram' ? ['', '_bucket', '_sum', '_count'] : ['']
      for (const suffix of suffixes) series.add(`toolyard_${name}${suffix}`)
    }
  }
  const { text } = await createMetrics('api').render()
  for (const [, name] of text.matchAll(/^# TYPE (\w+) /gm)) if (name !== undefined) series.add(name)
  return series
}

const namedIn = (text: string) => [...new Set(text.match(/\btoolyard_[a-z0-9_]+/g))]

const defined = await definedSeries()

test('every metric of the dashboard exists', () => {
  const { panels } = dashboard.parse(JSON.parse(read('docs/ops/grafana-dashboard.json')))
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(expressions.length > 20)
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const expression of expressions) {
    const names = namedIn(expression)
    assert.ok(names.length > 0, expression)
    for (const name of names) assert.ok(defined.has(name), `${name} in ${expression}`)
  }
})

test('the page names metrics that exist, and every figure of the whole', () => {
  const named = namedIn(read('docs/ops/README.md'))
  assert.deepEqual(
    named.filter((name) => !defined.has(name)),
    [],
  )
  for (const name of Object.keys(gauges)) assert.ok(named.includes(`toolyard_${name}`), name)
  assert.equal(read('docs/ops/README.md').match(/^ +- alert: /gm)?.length, 5)
})

test('a name that nobody defines would be found', () => {
  assert.ok(defined.has('toolyard_invocation_queue_seconds_bucket'))
  assert.ok(!defined.has('toolyard_invocation_queue_seconds_total'))
})
