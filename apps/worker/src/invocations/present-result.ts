import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { ToolSuccess } from '@toolyard/contract/tool-output'
import type { InvocationResult } from '@toolyard/invocations/invocation'
import { createRedactor } from '@toolyard/sanitize/create-redactor'
import { llmContext } from '@toolyard/sanitize/llm-context'
import { sanitizeOutput } from '@toolyard/sanitize/sanitize-output'

export type PresentOptions = {
  manifest: Manifest
  params: Readonly<Record<string, Json>>
  secrets: readonly string[]
  /** Of all tools. */
  knownNames: readonly string[]
  durationMs: number
}

/** What the caller is given of a tool's answer (I6, I7). */
export function presentResult(answer: ToolSuccess, options: PresentOptions): InvocationResult {
  const { manifest, params, secrets, knownNames, durationMs } = options
  const { card, synthesize, ephemeral } = manifest.output
  const { text, html, title, data, budget_remaining } = answer
  const clean = sanitizeOutput(
    {
      ...(text === null ? {} : { text }),
      ...(html === null ? {} : { html }),
      ...(title === null ? {} : { title }),
      ...(data === undefined ? {} : { data }),
    },
    { redactor: createRedactor(secrets), knownNames, card, params },
  )
  const shown = card.enabled && clean.html !== undefined ? clean.html : undefined
  return {
    text: clean.text,
    html: clean.html ?? null,
    title: clean.title === '' ? null : clean.title,
    ...(clean.data === undefined ? {} : { data: clean.data }),
    ...(shown === undefined
      ? {}
      : {
          card: {
            title: clean.cardTitle ?? '',
            html: shown,
            accent_color: card.accent_color,
            background_color: card.background_color,
          },
        }),
    output: { synthesize, ephemeral },
    truncated: clean.truncated,
    removed: clean.removed,
    ...(budget_remaining === undefined ? {} : { budget_remaining }),
    llm_context: llmContext(
      shown !== undefined && !synthesize ? { kind: 'card' } : { kind: 'text', text: clean.text },
      { tool: manifest.name, durationMs },
    ),
  }
}
