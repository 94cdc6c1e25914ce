import type { invocationShape } from '@toolyard/contract/invocations'
import type { z } from 'zod'
import type { Paint } from '../text/paint.ts'
import { indent, oneLine } from '../text/terminal-text.ts'

export type Invocation = z.infer<typeof invocationShape>

export function invocationLines(invocation: Invocation, paint: Paint): string[] {
  const { id, status, duration_ms: ranMs, queue_ms: waitedMs, result, failure } = invocation
  const word = status === 'succeeded' ? paint.good(status) : paint.bad(oneLine(status))
  const times = [
    ...(typeof ranMs === 'number' ? [`ran ${Math.round(ranMs)} ms`] : []),
    ...(typeof waitedMs === 'number' ? [`waited ${Math.round(waitedMs)} ms`] : []),
  ]
  return [
    [word, ...times, paint.faint(oneLine(id))].join('  '),
    ...(failure ? failureLines(failure) : []),
    ...(result ? resultLines(result, paint) : []),
  ]
}

function failureLines({
  kind,
  message,
  exit_code: code,
  stderr_tail: stderr,
}: NonNullable<Invocation['failure']>) {
  const exit = typeof code === 'number' ? ` (exit code ${code})` : ''
  return [`${oneLine(kind)}${exit}: ${oneLine(message)}`, ...(stderr ? ['stderr:', indent(stderr)] : [])]
}

function resultLines(
  { text, title, html, data, truncated, removed }: NonNullable<Invocation['result']>,
  paint: Paint,
) {
  const lost = removed ? `, and lost ${removed} characters` : ''
  const cut = truncated ? `was cut to its limit${lost}` : removed ? `lost ${removed} characters` : ''
  return [
    ...(title ? [paint.strong(oneLine(title))] : []),
    ...(text ? [indent(text, '')] : []),
    ...(data === undefined || data === null ? [] : ['data:', indent(JSON.stringify(data, undefined, 2))]),
    ...(html ? [paint.faint(`card: ${Buffer.byteLength(html)} bytes of HTML`)] : []),
    ...(cut === '' ? [] : [paint.warning(`The text ${cut}`)]),
  ]
}
