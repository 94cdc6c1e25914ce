import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { ToolSuccess } from '@toolyard/contract/tool-output'
import { cleanLine } from '@toolyard/sanitize/clean-line'
import { createRedactor } from '@toolyard/sanitize/create-redactor'
import { llmContext } from '@toolyard/sanitize/llm-context'
import type { SanitizedOutput } from '@toolyard/sanitize/sanitize-output'
import { sanitizeOutput } from '@toolyard/sanitize/sanitize-output'
import type { Verdict } from './judge-run.ts'

export type CleanContext = {
  manifest: Manifest
  params: Record<string, Json>
  secrets: readonly string[]
  durationMs: number
}

export type CleanedOutput = {
  /** As the tool gave it; only secrets are gone. */
  output?: Json
  /** What callers get of it. */
  result?: Omit<SanitizedOutput, 'changes'>
  failure?: { kind: string; message: string }
  llm_context: string
  /** What sanitising took from the output. */
  changes: string[]
}

const messageCharsMax = 2_000

/** The end of a run as callers and the model meet it, and what was changed on the way there. */
export function cleanOutput(verdict: Verdict, context: CleanContext): CleanedOutput {
  const { manifest, params, secrets, durationMs } = context
  const redactor = createRedactor(secrets)
  const knownNames = [manifest.name]
  const told = { tool: manifest.name, durationMs }
  if (verdict.kind === 'failed') {
    const { text, changes } = cleanLine(redactor.redact(verdict.message), {
      knownNames,
      maxChars: messageCharsMax,
    })
    const failure = { kind: verdict.failure, message: text }
    return { failure, llm_context: llmContext({ kind: 'failure', message: text }, told), changes }
  }
  const { card, synthesize } = manifest.output
  const options = { redactor, knownNames, card: { enabled: card.enabled, title: card.title }, params }
  const given = givenParts(verdict.output)
  const { changes, ...result } = sanitizeOutput(given, options)
  const isCard = !synthesize && card.enabled && result.html !== undefined
  const answer = isCard ? ({ kind: 'card' } as const) : ({ kind: 'text', text: result.text } as const)
  const { budget_remaining, notify, priority, state } = verdict.output
  const others = { budget_remaining, notify, priority, _state: state }
  const output = redactor.redactJson(withoutUndefined({ ...given, ...others }))
  return { output, result, llm_context: llmContext(answer, told), changes }
}

function givenParts({ text, html, title, data }: ToolSuccess) {
  return {
    ...(text === null ? {} : { text }),
    ...(html === null ? {} : { html }),
    ...(title === null ? {} : { title }),
    ...(data === undefined ? {} : { data }),
  }
}

const withoutUndefined = (members: Readonly<Record<string, Json | undefined>>): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
