import type { EngineAnswer } from '@toolyard/sandbox/engine'
import type { Part } from '@toolyard/service/part'

/** How the engine stands in readyz. `detail` may be shown to anybody, so it holds no address. */
export function enginePart(answer: EngineAnswer): Part {
  switch (answer.state) {
    case 'ready':
      return { state: 'ready', detail: `Docker ${answer.version}` }
    case 'absent':
      return { state: 'unreachable', detail: 'no Docker engine answers at DOCKER_HOST: start it' }
    case 'forbidden':
      return { state: 'unfit', detail: 'this user may not speak to the Docker engine' }
    case 'too_old':
      return { state: 'unfit', detail: `the Docker engine ${answer.detail}` }
  }
}
