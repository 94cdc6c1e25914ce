import type { Manifest } from '@toolyard/contract/manifest'
import type { ToolSuccess } from '@toolyard/contract/tool-output'
import { parseToolOutput } from '@toolyard/contract/tool-output'
import type { Outcome, TakeFailure } from '@toolyard/sandbox/outcome'
import { Failure } from '../../services/terminal/failure.ts'

export type Verdict =
  | { kind: 'succeeded'; output: ToolSuccess }
  | { kind: 'failed'; failure: string; message: string }

/** How the run counts. What is the engine's fault says nothing about the tool, and is thrown. */
export function judgeRun(manifest: Manifest, outcome: Outcome | TakeFailure): Verdict {
  const { constraints, sandbox, input } = manifest
  switch (outcome.kind) {
    case 'exited': {
      const exit = { code: outcome.code, signal: outcome.signal ?? null }
      const output = parseToolOutput(outcome.stdout, exit, outcome.stderrTail.toString(), input)
      if (output.status === 'success') return { kind: 'succeeded', output }
      return failed(output.kind, output.message)
    }
    case 'timed_out':
      return failed(
        'timeout',
        `it did not end within ${constraints.timeout_seconds} s (constraints.timeout_seconds)`,
      )
    case 'out_of_memory':
      return failed('out_of_memory', `it needed more than ${sandbox.memory} (sandbox.memory)`)
    case 'output_too_large':
      return failed('output_too_large', 'it wrote more than 1 MiB to stdout')
    case 'start_failed':
      if (outcome.reason === 'engine' || outcome.reason === 'timeout') break
      return failed('image_unavailable', outcome.detail)
    case 'cancelled':
    case 'image_missing':
    case 'engine_lost':
      break
  }
  const detail = 'detail' in outcome ? outcome.detail : outcome.kind.replace('_', ' ')
  throw new Failure(`The run says nothing about the tool, the engine failed (${detail}): try again`)
}

const failed = (failure: string, message: string): Verdict => ({ kind: 'failed', failure, message })
