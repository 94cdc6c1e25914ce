import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { freePort } from '@toolyard/service/free-port'
import { z } from 'zod'
import { projectRoot } from '../../services/installation/installation.ts'
import { readAnswer } from '../api/open-api.ts'
import type { TestInstallation } from '../fixtures/start-installation.ts'
import { startInstallation } from '../fixtures/start-installation.ts'
import { runToEnd, startListening } from './fixtures/start-listening.ts'

// `yard webhook listen --register` beside a real api and worker, and what docs/webhooks.md says of both.

const page = readFileSync(join(projectRoot, 'docs/webhooks.md'), 'utf8')

/** As the page has them, for another port than the page's. */
function settingsOfPage(port: number): Record<string, string> {
  const lines = [...page.matchAll(/^(YARD_WEBHOOK_\w+)=(\S+)$/gm)]
  assert.equal(lines.length, 3)
  return Object.fromEntries(
    lines.map(([, name = '', value = '']) => [name, value === '9000' ? String(port) : value]),
  )
}

async function endCall({ api }: TestInstallation): Promise<string> {
  const body = { params: {}, metadata: { for: 'you' } }
  const { id } = readAnswer(
    invocationShape,
    await api.call('/tools/tool_example/invoke', { method: 'POST', body }),
  )
  await api.call(`/invocations/${id}/cancel`, { method: 'POST' })
  return id
}

test('a receiver that registers itself is told what ends, and leaves nothing behind', async (t) => {
  const port = await freePort()
  const installation = await startInstallation(t, { settings: settingsOfPage(port) })
  const { api, environment } = installation
  const args = ['--register', '--port', String(port), '--json']
  const listening = await startListening(t, args, environment)
  await listening.untilNoted(/^Registered as whk_/m)
  const id = await endCall(installation)
  const told = JSON.parse((await listening.untilLines(1))[0] ?? '')
  assert.deepEqual(
    [told.verified, told.event, told.invocation, told.status, told.seen, told.answered],
    [true, 'invocation.finished', id, 'cancelled', 1, 204],
  )
  assertAsOnPage(told.body)
  assert.doesNotMatch(listening.notes() + listening.lines().join('\n'), /whsec_/)
  listening.signal('SIGINT')
  assert.equal(await listening.exitCode(), 0, listening.notes())
  assert.deepEqual(await api.call('/webhooks'), { webhooks: [], next_cursor: null })

  // Its reader leaves, and the message that comes then is what tells it so.
  const piped = await startListening(t, args, environment)
  await piped.untilNoted(/^Registered as whk_/m)
  piped.hangUp()
  await endCall(installation)
  assert.equal(await piped.exitCode(), 0)
  assert.deepEqual(await api.call('/webhooks'), { webhooks: [], next_cursor: null })

  const refused = await runToEnd(['--register', '--port', String(await freePort())], environment)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^ {2}\/url must use an allowed port [^]*^ {2}YARD_WEBHOOK_PORTS=\d+$/m)
})

test('what cannot be removed is named, and a second Ctrl-C does not wait for it', async (t) => {
  const port = await freePort()
  const installation = await startInstallation(t, { settings: settingsOfPage(port) })
  const args = ['--register', '--port', String(port)]
  const listening = await startListening(t, args, installation.environment)
  await listening.untilNoted(/^Registered as whk_/m)
  installation.stopApi()
  listening.signal('SIGINT')
  await listening.untilNoted(/^Removing/m)
  listening.signal('SIGINT')
  assert.equal(await listening.exitCode(), 1)
  assert.match(listening.notes(), /The webhook whk_\w+ stays/)
})

test('the curl lines of the page work as they stand', async (t) => {
  const { url, folder } = await startInstallation(t)
  const lines = [...page.matchAll(/^<!-- run -->\n```sh\n(.+)\n```$/gm)].map(([, line = '']) => line)
  assert.equal(lines.length, (page.match(/^curl /gm) ?? []).length)
  let id = 'none yet'
  for (const line of lines) {
    const typed = line
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('.toolyard/', `${folder}/`)
      .replaceAll('whk_ID', id)
    const said = execFileSync('sh', ['-c', `${typed} --silent --fail-with-body`], { encoding: 'utf8' })
    const answer = z
      .looseObject({ id: z.string().optional(), secret: z.string().optional() })
      .parse(JSON.parse(said))
    if (answer.id?.startsWith('whk_') === true) id = answer.id
    if (/rotate_secret|callback-secret|"events"/.test(line))
      assert.match(answer.secret ?? '', /^whsec_/, line)
  }
  assert.match(id, /^whk_/)
})

/** Nothing comes that the example of the page does not have, in its order. */
function assertAsOnPage(body: unknown): void {
  const [, example = ''] = /^<!-- message -->\n```http\n[^]*?\n\n([^]*?)^```$/m.exec(page) ?? []
  const shape = z.looseObject({ type: z.string(), timestamp: z.string(), data: z.looseObject({}) })
  const [shown, came] = [shape.parse(JSON.parse(example)), shape.parse(body)]
  assert.deepEqual(Object.keys(came), Object.keys(shown))
  const known = Object.keys(shown.data)
  assert.deepEqual(
    Object.keys(came.data),
    known.map((name) => (name === 'result' ? 'failure' : name)),
  )
}
