import { jsonLine, manyLines, oneLine } from '../text/terminal-text.ts'
import type { Paint } from '../text/paint.ts'
import type { Reporter, StatusTold } from './follow-invocation.ts'

export type Output = { out: (text: string) => void; err: (text: string) => void }

/** For a person: what happens meanwhile goes to stderr, the tool's own words as they are written. */
export function createLineReporter(id: string, { err }: Pick<Output, 'err'>, paint: Paint) {
  let isInLine = false
  const say = (line: string) => {
    err(`${isInLine ? '\n' : ''}${line}\n`)
    isInLine = false
  }
  const reporter: Reporter = {
    status: (told) => say(paint.strong(statusLine(id, told))),
    stderr({ text, gap }) {
      if (gap === true) say(paint.faint('… something is missing here …'))
      if (text === '') return
      err(manyLines(text))
      isInLine = !text.endsWith('\n')
    },
    lost: () => say(paint.warning('The connection was lost; trying again')),
  }
  return { reporter, endLine: () => isInLine && err('\n') }
}

/** For a program: each event as one line of JSON. */
export function createJsonReporter({ out, err }: Output): Reporter {
  const say = (event: string, data: object) => out(`${jsonLine({ event, ...data })}\n`)
  return {
    status: (told) => say('status', told),
    stderr: (told) => say('stderr', told),
    lost: () => err('The connection was lost; trying again\n'),
  }
}

function statusLine(id: string, { status, attempts, ...more }: StatusTold): string {
  const words =
    status === 'running'
      ? `is running, attempt ${attempts}`
      : status === 'queued' && attempts > 0
        ? `waits for attempt ${attempts + 1}`
        : status === 'queued'
          ? 'is queued'
          : `has ended: ${status}`
  const reason = more.waiting_for === undefined ? '' : `, waiting for: ${more.waiting_for}`
  const cancelling = more.cancel_requested === true && status === 'running' ? ', and is being cancelled' : ''
  return oneLine(`${id} ${words}${reason}${cancelling}`)
}
