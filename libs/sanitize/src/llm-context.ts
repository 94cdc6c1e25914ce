/** What a tool gave, cleaned already. */
export type ToolAnswer =
  | { kind: 'text'; text: string }
  /** The card is all that is shown: the tool's text is not for the model. */
  | { kind: 'card' }
  | { kind: 'failure'; message: string }

export type LlmContextOptions = { tool: string; durationMs: number }

const charsPerToken = 4

/** The line that stands for a tool's answer in the context of a model. */
export function llmContext(answer: ToolAnswer, { tool, durationMs }: LlmContextOptions): string {
  const cost = `cost: ${Math.max(0, Math.round(durationMs))}ms`
  return `[TOOL:${tool}] ${inner(answer, cost)} [/TOOL]`
}

function inner(answer: ToolAnswer, cost: string): string {
  if (answer.kind === 'card') return `(card displayed, ${cost})`
  if (answer.kind === 'failure') return `Error: ${answer.message} (${cost})`
  return `${answer.text} (${cost}, ~${Math.ceil(answer.text.length / charsPerToken)} tokens)`
}
