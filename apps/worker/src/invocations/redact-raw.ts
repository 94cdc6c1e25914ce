import { createRedactor } from '@toolyard/sanitize/create-redactor'
import type { Outcome } from '@toolyard/sandbox/outcome'

/** What the tool wrote, without its secrets: for operators, and to make messages from. */
export type RedactedRaw = { stdout: Buffer; stderrTail: Buffer }

// The longest way to spell one byte of a secret that the redactor knows: \u00ff.
const spellingMax = 6

/** As much as of a secret can stand where a text is cut. */
export const cutMarginBytes = (secrets: readonly string[]) =>
  spellingMax * Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)))

/**
 * Both are redacted whole. Where one was cut, half a secret may stand at the cut, which nobody would know for one: as
 * much as a spelled secret can be long is left out there.
 */
export function redactRaw(
  { stdout, stderrTail, stderrBytes, kind }: Pick<Outcome, 'stdout' | 'stderrTail' | 'stderrBytes' | 'kind'>,
  secrets: readonly string[],
): RedactedRaw {
  const redact = (bytes: Buffer) => {
    const stream = createRedactor(secrets).stream()
    return Buffer.concat([stream.push(bytes), stream.end()])
  }
  const marginBytes = cutMarginBytes(secrets)
  const isStderrCut = stderrBytes > stderrTail.length
  const redactedStdout = redact(stdout)
  const redactedTail = redact(stderrTail)
  return {
    stdout:
      kind === 'output_too_large'
        ? redactedStdout.subarray(0, Math.max(0, redactedStdout.length - marginBytes))
        : redactedStdout,
    stderrTail: isStderrCut ? redactedTail.subarray(marginBytes) : redactedTail,
  }
}
