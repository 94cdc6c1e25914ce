import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someOutcome, someTool } from './fixtures/some-tool.ts'
import type { Seen } from './hygiene-hints.ts'
import { hygieneHints } from './hygiene-hints.ts'
import { judgeRun } from './judge-run.ts'
import type { Tried } from './try-on-engine.ts'

const built = { kind: 'built', ms: 1, bytes: 1, warnings: [] } as const

function seen(
  tool = someTool(),
  {
    build = built,
    outcome = someOutcome(),
    hasNetwork = false,
  }: { build?: Tried['build']; outcome?: ReturnType<typeof someOutcome>; hasNetwork?: boolean } = {},
): Seen {
  const tried: Tried = { build, run: { startMs: 1, outcome, hasNetwork } }
  return { tool, missingSettings: [], tried, verdict: judgeRun(tool.manifest, outcome) }
}

test('of a tool as it should be nothing is said', () => {
  assert.deepEqual(hygieneHints(seen()), [])
})

test('each thing that could be better is named, once and alone', () => {
  const stdout = (text: string) => ({ outcome: someOutcome({ stdout: Buffer.from(text) }) })
  const cases: [Seen, RegExp][] = [
    [seen(someTool({ examples: [] })), /no examples/],
    [seen(someTool({ description: 'Greets' })), /has 6 characters/],
    [seen(someTool({ parameters: { name: { type: 'string' } } })), /parameter name has no description/],
    [seen(someTool({ constraints: { timeout_seconds: 900 } })), /ceiling/],
    [seen(someTool({}, ['Dockerfile', '.git'])), /\.git is sent/],
    [seen(someTool(), { build: { ...built, warnings: ['ENTRYPOINT is in shell form'] } }), /shell form/],
    [seen(someTool(), { build: { ...built, uid: 0 } }), /runs as root/],
    [seen(someTool(), { outcome: someOutcome({ memoryPeakBytes: 250_000_000 }) }), /93 % of its memory/],
    [seen(someTool(), { outcome: someOutcome({ wallMs: 8_900 }) }), /99 % of its time/],
    [seen(someTool(), { outcome: someOutcome({ isOutputComplete: false }) }), /still held its output/],
    [seen(someTool(), stdout('starting\n{"text":"a"}')), /logs to stderr/],
    [seen(someTool(), stdout('{"data":1}')), /neither text nor html/],
    [seen(someTool({ sandbox: { network: 'bridge' } })), /without a network/],
    [{ ...seen(), missingSettings: ['token'] }, /setting token is required/],
  ]
  for (const [what, hint] of cases) {
    const hints = hygieneHints(what)
    assert.equal(hints.length, 1, `${hint}: ${hints.join('; ')}`)
    assert.match(hints[0] ?? '', hint)
  }
})

test('a network that the tool had is not called needless', () => {
  assert.deepEqual(hygieneHints(seen(someTool({ sandbox: { network: 'bridge' } }), { hasNetwork: true })), [])
})
