import type { EngineAnswer } from '@toolyard/sandbox/engine'
import type { Part } from '@toolyard/service/part'

/** How the engine stands in readyz. `detail` may be shown to anybody, so it holds no address. */
export function enginePart(answer: EngineAnswer): Part {
  const { state } = answer
  if (state === 'ready') return { state, detail: `Docker ${answer.version}` }
  if (state === 'absent')
    return { state: 'unreachable', detail: 'no Docker engine answers at DOCKER_HOST: start it' }
  if (state === 'forbidden') return { state: 'unfit', detail: 'this user may not speak to the Docker engine' }
  return { state: 'unfit', detail: `the Docker engine ${answer.detail}` }
}
