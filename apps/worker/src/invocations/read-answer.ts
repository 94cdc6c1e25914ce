import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { ToolExit, ToolFailure, ToolSuccess } from '@toolyard/contract/tool-output'
import { parseToolOutput } from '@toolyard/contract/tool-output'
import type { AttemptOutcome } from '@toolyard/invocations/decide-end'
import type { ToolNotes } from '@toolyard/invocations/invocation'
import { cleanLine } from '@toolyard/sanitize/clean-line'
import { createRedactor } from '@toolyard/sanitize/create-redactor'
import type { Outcome } from '@toolyard/sandbox/outcome'
import { presentResult } from './present-result.ts'
import type { RedactedRaw } from './redact-raw.ts'

type Exited = Extract<Outcome, { kind: 'exited' }>

type Answering = {
  manifest: Manifest
  params: Readonly<Record<string, Json>>
  secrets: readonly string[]
  knownNames: readonly string[]
}

const messageCharsMax = 2_000

/** What a tool that came to its end said, as an outcome: redacted, sanitised and cut (I6, I7). */
export function readAnswer(outcome: Exited, raw: RedactedRaw, tool: Answering): AttemptOutcome {
  const { code, signal, stdout, wallMs } = outcome
  const exit: ToolExit = {
    code: signal === undefined ? code : null,
    ...(signal === undefined ? {} : { signal }),
  }
  const stderrTail = raw.stderrTail.toString('utf8')
  const answer = parseToolOutput(stdout, exit, stderrTail, tool.manifest.input)
  if (answer.status === 'success') {
    const result = presentResult(answer, { ...tool, durationMs: wallMs })
    return { kind: 'succeeded', result, ...readNotes(answer, tool.secrets) }
  }
  const again = parseToolOutput(raw.stdout, exit, stderrTail, tool.manifest.input)
  const said = again.status === 'failure' && again.kind === answer.kind ? again.message : undefined
  return {
    kind: 'failed',
    failure: {
      kind: answer.kind,
      class: answer.failure_class,
      message: cleanMessage(said, tool) || silentMessages[answer.kind],
      exit_code: code,
    },
    ...(answer.budget_remaining === undefined ? {} : { budgetRemaining: answer.budget_remaining }),
  }
}

/** What the tool said to the platform: kept for it in clear, so no secret is in it (I6). */
function readNotes({ notify, priority, state }: ToolSuccess, secrets: readonly string[]) {
  const notes: ToolNotes = {
    ...(notify === undefined ? {} : { notify }),
    ...(priority === undefined ? {} : { priority }),
    ...(state === undefined ? {} : { state: createRedactor(secrets).redactJson(state) }),
  }
  return Object.keys(notes).length === 0 ? {} : { notes }
}

/**
 * The parser cuts messages, and a cut secret is not known for one: so the message is taken from what was redacted
 * before. Where redacting broke the JSON there is no message to show.
 */
function cleanMessage(message: string | undefined, { secrets, knownNames }: Answering): string {
  if (message === undefined) return ''
  const { redact } = createRedactor(secrets)
  const whole = cleanLine(redact(message), { knownNames, maxChars: Number.MAX_SAFE_INTEGER }).text
  // Cleaning may bring to light what was split, and cutting comes last.
  return cleanLine(redact(whole), { knownNames, maxChars: messageCharsMax }).text
}

const silentMessages: Record<ToolFailure['kind'], string> = {
  tool_error: 'The tool reported an error whose message cannot be shown',
  exit_nonzero: 'The tool ended with a fault',
  invalid_output: 'The tool wrote no JSON object of the known form to stdout',
}
