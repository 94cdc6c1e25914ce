import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { testDockerHost } from '@toolyard/testkit/environment'
import { openTool } from './fixtures/run-tool.ts'

test('it greets, names the city where it is known, and shows the time on the card', async (t) => {
  const tool = await openTool(t, 'tool_example')
  const telemetry = { city: 'Valletta', country: 'Malta', time: '2026-02-20T17:00:00Z' }
  const full = await tool.succeed({ name: 'Dylan' }, { telemetry })
  assert.equal(full.text, "Hello, Dylan! You're in Valletta.")
  for (const line of ['>Hello, Dylan!<', '>📍 Valletta<', '>2026-02-20T17:00:00Z<'])
    assert.ok(full.html?.includes(line))
  const bare = await tool.succeed({ name: 'Dylan' })
  assert.equal(bare.text, 'Hello, Dylan!')
  assert.doesNotMatch(bare.html ?? '', /📍|color:#999/)
})

test('a name is text in the card and never a command', async (t) => {
  const tool = await openTool(t, 'tool_example')
  const name = `$(id)\`id\`"'<img src=x onerror=alert(1)>\n\\u0041`
  const { text, html } = await tool.succeed({ name })
  assert.equal(text, `Hello, ${name}!`)
  assert.match(html ?? '', /&lt;img src=x onerror=alert\(1\)&gt;/)
})

// The line that tool authors know: docker run --rm IMAGE "$ENCODED"
test('the built image runs without us', async (t) => {
  const { imageId } = await openTool(t, 'tool_example')
  const payload = {
    params: { name: 'Dylan' },
    settings: {},
    telemetry: {
      city: 'Valletta',
      country: 'Malta',
      time: '2026-02-20T17:00:00Z',
      lat: 35.8762,
      lon: 14.5366,
    },
  }
  const encoded = Buffer.from(JSON.stringify(payload)).toString('base64')
  const container = await openEngine(testDockerHost()).createContainer({
    Image: imageId,
    Cmd: [encoded],
    HostConfig: { NetworkMode: 'none' },
  })
  t.after(() => container.remove({ force: true, v: true }))
  await container.start()
  assert.equal((await container.wait()).StatusCode, 0)
  const output = await container.logs({ stdout: true })
  const printed = JSON.parse(joinPieces(output))
  assert.equal(printed.text, "Hello, Dylan! You're in Valletta.")
})

/** Each piece of a log has eight bytes before it, of which the last four are its length. */
function joinPieces(log: Buffer): string {
  let text = ''
  for (let at = 0; at < log.length; at += 8 + log.readUInt32BE(at + 4))
    text += log.toString('utf8', at + 8, at + 8 + log.readUInt32BE(at + 4))
  return text
}
