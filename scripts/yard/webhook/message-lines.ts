import type { Paint } from '../text/paint.ts'
import { jsonLine, oneLine, shorten } from '../text/terminal-text.ts'
import type { Judged } from './judge-message.ts'
import type { Refused } from './start-receiver.ts'

export type Printer = {
  message: (judged: Judged, more: { seen: number; answered: number }) => string
  refused: (refused: Refused, now: Date) => string
}

const charactersMax = 100

/** For a person: a line for each, in whose words nothing of a stranger can hide. */
export function createLinePrinter(paint: Paint): Printer {
  return {
    message({ time, verified, reason, detail, ...said }, { seen, answered }) {
      const verdict = verified ? paint.good('verified') : paint.bad(`NOT VERIFIED (${reason}: ${detail})`)
      return [
        time,
        verdict,
        word(said.event, 'no event'),
        ...(said.invocation === null
          ? []
          : [`${word(said.invocation, '')} ${word(said.status, '')}`.trimEnd()]),
        paint.faint(word(said.id, 'no webhook-id')),
        ...(seen > 1 ? [paint.warning(`came ${seen} times`)] : []),
        `answered ${answered}`,
      ].join('  ')
    },
    refused({ status, detail }, now) {
      const answered = status === null ? 'not answered' : `answered ${status}`
      return [now.toISOString(), paint.bad(`REFUSED (${oneLine(detail)})`), answered].join('  ')
    },
  }
}

/** For a program: each as one line of JSON, with the body. */
export const jsonPrinter: Printer = {
  message: ({ body, ...judged }, more) => jsonLine({ ...judged, ...more, body }),
  refused: ({ status, detail }, now) =>
    jsonLine({ time: now.toISOString(), refused: detail, answered: status }),
}

const word = (text: string | null, otherwise: string) =>
  text === null ? otherwise : oneLine(shorten(text, charactersMax))
