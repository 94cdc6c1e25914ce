import { TextDecoder } from 'node:util'
import type { Attempt } from '@toolyard/invocations/claim'
import type { StderrSender } from '@toolyard/invocations/stderr-sender'
import type { RedactingStream } from '@toolyard/sanitize/create-redactor'
import { createRedactor } from '@toolyard/sanitize/create-redactor'
import { cutMarginBytes } from './redact-raw.ts'

export type StderrHearing = {
  onStderr: (chunk: Buffer) => void
  /** `stderrBytes`: what the tool has written in all, heard or not. */
  end: (stderrBytes: number) => Promise<void>
}

type Hearing = { redacting: RedactingStream; decoder: TextDecoder; leftOutBytes: number }

/**
 * Passes on what a tool writes to stderr, without its secrets, while somebody watches (I6). Where it begins in the
 * middle, half a secret may stand there, which nobody would know for one: as much as a spelled secret can be long is
 * left out. For the same reason what the redactor holds back is not said when the rest of it is missing.
 */
export function hearStderr(
  sender: Pick<StderrSender, 'isWanted' | 'open'>,
  { id, attempt }: Pick<Attempt, 'id' | 'attempt'>,
  secrets: readonly string[],
): StderrHearing {
  const live = sender.open({ id, attempt })
  let hearing: Hearing | undefined
  let heardBytes = 0

  function begin(): Hearing {
    const isMiddle = heardBytes > 0
    if (isMiddle) live.noteGap()
    return {
      redacting: createRedactor(secrets).stream(),
      decoder: new TextDecoder(),
      leftOutBytes: isMiddle ? cutMarginBytes(secrets) : 0,
    }
  }

  function say(now: Hearing, redacted: Buffer, isEnd: boolean): void {
    const bytes = redacted.subarray(now.leftOutBytes)
    now.leftOutBytes -= redacted.length - bytes.length
    live.write(now.decoder.decode(bytes, { stream: !isEnd }))
  }

  return {
    onStderr(chunk) {
      if (sender.isWanted(id)) {
        hearing ??= begin()
        say(hearing, hearing.redacting.push(chunk), false)
      } else {
        hearing = undefined
      }
      heardBytes += chunk.length
    },
    async end(stderrBytes) {
      if (hearing === undefined) return
      if (heardBytes === stderrBytes) say(hearing, hearing.redacting.end(), true)
      else live.noteGap()
      await live.end()
    },
  }
}
