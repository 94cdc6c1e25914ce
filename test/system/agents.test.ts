import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { mcpClient } from '@toolyard/api/fixtures/mcp-client'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { removeImagesAfter } from '../fixtures/remove-images-after.ts'
import type { Yard } from '../fixtures/yard.ts'
import { succeeded, testYard } from '../fixtures/yard.ts'
import { killProcess } from './fixtures/kill-process.ts'
import { shellTool, writeTool } from './fixtures/write-tool.ts'

// The SDK's own client, in both generations of the protocol, against a whole installation with real containers.

type Client = Awaited<ReturnType<typeof mcpClient>>

const eras = ['modern', 'legacy'] as const
const docker = openEngine(testDockerHost())
// Images are built meanwhile, and a lost attempt is taken back 40 s after its worker was heard of last.
const patienceMs = 240_000
const goneWithinMs = 1_000

// The first attempt goes on until it is ended; the number is to be found among the processes of the engine.
const untilEnded =
  'if [ "$TOOLYARD_ATTEMPT" = 1 ]; then sleep 43210; fi\necho "{\\"text\\":\\"attempt $TOOLYARD_ATTEMPT\\"}"\n'

async function yardWithTools(t: TestContext): Promise<Yard> {
  const yard = await testYard(t)
  removeImagesAfter(t, yard)
  writeTool(yard.toolDir, 'greeting', shellTool(`echo '{"text":"hello"}'\n`))
  writeTool(yard.toolDir, 'lingering', shellTool(untilEnded))
  writeTool(yard.toolDir, 'once', shellTool(untilEnded), { constraints: { rerun: false } })
  succeeded(await yard.run(['up', '--detach']))
  return yard
}

/** A call under way, and what has been told of it. */
function begin(client: Client, name: string, signal?: AbortSignal) {
  const told: (string | undefined)[] = []
  const answer = client.callTool(
    { name, arguments: {} },
    {
      timeout: patienceMs,
      onprogress: ({ message }) => void told.push(message),
      ...(signal === undefined ? {} : { signal }),
    },
  )
  // Whoever awaits it hears of its failure.
  answer.catch(() => {})
  const untilRunning = () =>
    waitUntil(`${name} to run`, () => told.some((message) => message?.startsWith('running')), patienceMs)
  return { answer, told, untilRunning }
}

async function runningContainers({ instance }: Yard): Promise<string[]> {
  const filters = { label: [`toolyard.instance=${instance}`], status: ['running'] }
  return (await docker.listContainers({ filters })).map(({ Id }) => Id)
}

/** Those in which the long sleep runs: others stand ready for calls to come. */
async function busyContainers(yard: Yard): Promise<string[]> {
  const busy = (await runningContainers(yard)).map(async (id) => ((await isBusy(id)) ? [id] : []))
  return (await Promise.all(busy)).flat()
}

async function isBusy(id: string): Promise<boolean> {
  try {
    const { Processes } = await docker.getContainer(id).top()
    return JSON.stringify(Processes).includes('43210')
  } catch (error) {
    // It has ended since it was listed, or ends just now.
    if (!(error instanceof Error && 'statusCode' in error)) throw error
    if ([404, 409].includes(Number(error.statusCode)) || error.message.includes('ttrpc: closed')) return false
    throw error
  }
}

test('clients made by others list, call, are told how it stands, cancel, and survive a worker killed in a call', async (t) => {
  const yard = await yardWithTools(t)
  const token = readFileSync(join(yard.dataDir, 'admin.key'), 'utf8').trim()
  const clients = await Promise.all(eras.map((era) => mcpClient({ url: yard.url, token, era })))

  for (const client of clients) {
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['greeting', 'lingering', 'once'],
    )
    const greeting = begin(client, 'greeting')
    assert.deepEqual((await greeting.answer).content, [{ type: 'text', text: 'hello' }])
    assert.match(greeting.told[0] ?? '', /^(?:queued|running)/)
  }

  for (const client of clients) {
    const controller = new AbortController()
    const { answer, untilRunning } = begin(client, 'lingering', controller.signal)
    await untilRunning()
    const [busy] = await waitUntil('its container to be busy', async () => {
      const found = await busyContainers(yard)
      return found.length === 1 ? found : undefined
    })
    assert.ok(busy)
    const endedAt = performance.now()
    controller.abort()
    const isGone = async () => !(await runningContainers(yard)).includes(busy)
    await waitUntil('it to be gone', isGone, goneWithinMs)
    t.diagnostic(`gone after ${Math.round(performance.now() - endedAt)} ms`)
    await assert.rejects(answer, /operation was aborted/)
  }

  const calls = clients.map((client) => ({
    lingering: begin(client, 'lingering'),
    once: begin(client, 'once'),
  }))
  for (const { lingering, once } of calls) await Promise.all([lingering.untilRunning(), once.untilRunning()])
  await waitUntil('all of them to be busy', async () => (await busyContainers(yard)).length === 4)
  killProcess(yard, /apps\/worker\/src\/main\.ts/)
  for (const { lingering, once } of calls) {
    const again = await lingering.answer
    assert.deepEqual([again.isError ?? false, again.content], [false, [{ type: 'text', text: 'attempt 2' }]])
    const lost = await once.answer
    assert.equal(lost.isError, true)
    assert.match(JSON.stringify(lost.content), /sandbox_lost/)
  }
  assert.deepEqual(await busyContainers(yard), [])
})
