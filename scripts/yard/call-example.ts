import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { invocationShape, isFinal } from '@toolyard/contract/invocations'
import { toolListShape } from '@toolyard/contract/tools'
import type { Installation } from '../services/installation/installation.ts'
import { messageOf } from '../services/terminal/failure.ts'
import type { Progress, Renderer } from '../services/terminal/progress.ts'
import type { Api } from './api/open-api.ts'
import { openApi, readAnswer } from './api/open-api.ts'
import type { Invocation } from './invocation/invocation-lines.ts'
import { invocationLines } from './invocation/invocation-lines.ts'
import { createPaint } from './text/paint.ts'

const example = 'tool_example'
const body = { params: { name: 'World' } }
const command = `./yard invoke ${example} --params '${JSON.stringify(body.params)}' --wait`

export type ExampleCall = {
  installation: Installation
  renderer: Pick<Renderer, 'print'>
  progress: Progress
  /** Nobody waits for it any more. */
  signal: AbortSignal
}

const askEveryMs = 300
const listedMaxMs = 30_000
const pollSeconds = 20
// The first image takes a base of its own, made from Debian's archive.
const patienceMs = 10 * 60_000

/** The end of a start: a real call by the way that every caller goes. That it fails does not undo the start. */
export async function callExample(call: ExampleCall): Promise<void> {
  const { installation, renderer, progress, signal } = call
  if (!installation.toolDirs.some((dir) => existsSync(join(dir, example, 'manifest.json')))) return
  const show = (...lines: readonly string[]) => renderer.print(['', `$ ${command}`, ...lines].join('\n'))
  try {
    const api = openApi(installation)
    const invocation = await progress.step(
      `Calling ${example}, whose image is built for the first call`,
      () => callOnce(api, signal),
    )
    show(...invocationLines(invocation, createPaint(process.stdout, process.env)))
  } catch (error) {
    if (!signal.aborted) show(`It was not answered: ${messageOf(error)}`)
  }
}

async function callOnce(api: Api, signal: AbortSignal): Promise<Invocation> {
  const listedUntil = performance.now() + listedMaxMs
  while (!(await isListed(api, signal)) && performance.now() < listedUntil)
    await delay(askEveryMs, undefined, { signal })
  const until = performance.now() + patienceMs
  const path = `/tools/${example}/invoke`
  let answer = await api.call(path, { method: 'POST', body, wait: pollSeconds, signal })
  for (;;) {
    const invocation = readAnswer(invocationShape, answer)
    if (isFinal(invocation.status)) return invocation
    if (performance.now() > until)
      throw new Error(`it still waits (${invocation.waiting_for ?? invocation.status}); see ./yard tool list`)
    answer = await api.call(`/invocations/${invocation.id}?wait=${pollSeconds}`, {
      wait: pollSeconds,
      signal,
    })
  }
}

async function isListed(api: Api, signal: AbortSignal): Promise<boolean> {
  const { tools } = readAnswer(toolListShape, await api.call('/tools', { signal }))
  return tools.some(({ name }) => name === example)
}
