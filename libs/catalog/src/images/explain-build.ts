import type { BuildOutcome } from '@toolyard/sandbox/build-image'
import type { BuildLimits, NotBuilt } from './build-surroundings.ts'

const mebibyte = 1_048_576

/** Why there is no image, in words for whoever wrote the Dockerfile. */
export function explainBuild(
  outcome: Exclude<BuildOutcome, { kind: 'built' }>,
  { timeoutMs, sizeMaxBytes }: BuildLimits,
): NotBuilt {
  if (outcome.kind === 'failed') return { kind: 'error', detail: outcome.detail }
  if (outcome.kind === 'timed_out')
    return { kind: 'error', detail: withLines(timeOver(timeoutMs), outcome.lastLines) }
  if (outcome.kind === 'too_large') {
    const [is, may] = [outcome.bytes, sizeMaxBytes].map((bytes) => Math.ceil(bytes / mebibyte))
    const what = `the image, or a step of its build, has ${is} MiB`
    return { kind: 'error', detail: `${what}; at most ${may} MiB are allowed` }
  }
  return { kind: 'fault', detail: outcome.kind === 'cancelled' ? 'the build was cancelled' : outcome.detail }
}

export const timeOver = (timeoutMs: number) => `the build took longer than ${timeoutMs / 1_000} s`

const withLines = (text: string, lines: string) =>
  lines === '' ? text : `${text}; its last lines:\n${lines}`
