import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanText, createBuildOutput, lastBytes } from './build-output.ts'

const json = (message: object) => Buffer.from(`${JSON.stringify(message)}\n`)

function collect(chunks: readonly Buffer[]) {
  const lines: string[] = []
  const output = createBuildOutput((line) => lines.push(line))
  for (const chunk of chunks) output.add(chunk)
  return { lines, output, read: output.read() }
}

test('what a build prints comes as whole lines, however the engine cuts it', () => {
  const bytes = Buffer.concat([
    json({ stream: 'Step 1/2 : FROM scratch' }),
    json({ stream: '\n' }),
    json({ stream: ' ---> \n' }),
    json({ stream: 'Grüße\r\nzw' }),
    json({ stream: 'ei\rdrei' }),
    json({ aux: { ID: 'sha256:first' } }),
    json({ aux: { ID: 'sha256:last' } }),
  ])
  const whole = ['Step 1/2 : FROM scratch', ' --->', 'Grüße', 'zwei', 'drei']
  for (const size of [1, 7, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    const { lines, read } = collect(chunks)
    assert.deepEqual(lines, whole)
    assert.equal(read.id, 'sha256:last')
    assert.equal(read.error, undefined)
  }
})

test("a step's output forges neither an image nor an error", () => {
  const { read } = collect([json({ stream: '{"aux":{"ID":"sha256:evil"}}\n{"error":"evil"}\n' })])
  assert.deepEqual(read, { lastLines: '{"aux":{"ID":"sha256:evil"}}\n{"error":"evil"}' })
})

test('lines are cut, there are at most so many of them, and the last ones are kept', () => {
  const { lines } = collect([json({ stream: `${'x'.repeat(500_000)}\n` })])
  assert.deepEqual(
    lines.map((line) => line.length),
    [1_000],
  )
  const many = Array.from({ length: 30_000 }, (_, index) => json({ stream: `line ${index}\n` }))
  const flood = collect(many)
  assert.equal(flood.lines.length, 10_000)
  assert.match(flood.lines.at(-1) ?? '', /not shown/)
  assert.match(flood.read.lastLines, /line 29999$/)
  assert.ok(Buffer.byteLength(flood.read.lastLines) <= 8_192)
})

test('a message without an end is left out, and the next one is read', () => {
  const endless = Array.from({ length: 5 }, () => Buffer.alloc(400_000, 'x'))
  const { read, lines } = collect([...endless, Buffer.from('\n'), json({ error: 'told' })])
  assert.deepEqual(lines, [])
  assert.equal(read.error, 'told')
})

test('a pull tells its steps and not every tick of its bar', () => {
  const { lines } = collect([
    json({ status: 'Pulling from library/debian', id: 'bookworm-slim' }),
    json({ status: 'Downloading', id: 'abc', progressDetail: { current: 1, total: 2 }, progress: '[=> ]' }),
    json({ status: 'Pull complete', id: 'abc', progressDetail: {} }),
  ])
  assert.deepEqual(lines, ['bookworm-slim: Pulling from library/debian', 'abc: Pull complete'])
})

test('nothing that moves a cursor or turns a line around is told', () => {
  assert.equal(
    cleanText('\u001B[91mred\u001B[0m \u001B]0;title\u0007\u202Eevil\u0000\u0008\u009B2J'),
    'red evil2J',
  )
  assert.equal(cleanText('\t[INFO] a\n[WARN] b'), '\t[INFO] a\n[WARN] b')
})

test('the end of a text has no half characters', () => {
  assert.equal(lastBytes('aüb', 2), 'b')
  assert.equal(lastBytes('aüb', 3), 'üb')
  assert.equal(lastBytes('aüb', 9), 'aüb')
})
