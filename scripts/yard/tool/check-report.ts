import type { FoundTool } from '@toolyard/catalog/found-tool'
import { memoryBytes } from '@toolyard/contract/memory-bytes'
import type { Json } from '@toolyard/contract/parameters'
import { createRedactor } from '@toolyard/sanitize/create-redactor'
import type { CleanedOutput } from './clean-output.ts'
import { cleanOutput } from './clean-output.ts'
import { hygieneHints } from './hygiene-hints.ts'
import type { Verdict } from './judge-run.ts'
import { judgeRun } from './judge-run.ts'
import type { Prepared } from './prepare-payload.ts'
import type { Tried } from './try-on-engine.ts'

/** What `check` says with `--json`. */
export type CheckReport = {
  tool: string
  dir: string
  /** It can be listed, and the run succeeded. */
  ok: boolean
  /** What keeps it from being built or called. */
  faults: string[]
  params?: Record<string, Json>
  build?: BuildReport
  run?: RunReport
  hints: string[]
}

type BuildReport =
  | { ms: number; image_bytes: number; warnings: readonly string[] }
  | { ms: number; error: string }

export type RunReport = {
  /** From the wish for a sandbox to one that is ready: a call that finds one in stock does not wait for it. */
  start_ms: number
  /** In the sandbox, from the payload to the end. */
  ms: number
  cpu_ms?: number
  timeout_ms: number
  memory_peak_bytes?: number
  memory_bytes: number
  exit_code?: number
  signal?: string
  stderr_tail?: string
} & Partial<CleanedOutput>

export type Trialled = { tool: FoundTool; prepared: Extract<Prepared, { kind: 'prepared' }>; tried: Tried }

export function describeTrial({ tool, prepared, tried }: Trialled): Omit<CheckReport, 'tool' | 'dir'> {
  const { build, run } = tried
  const { params, missing, secrets } = prepared
  const verdict = run === undefined ? undefined : judgeRun(tool.manifest, run.outcome)
  const seen = { tool, missingSettings: missing, tried, ...(verdict === undefined ? {} : { verdict }) }
  return {
    ok: verdict?.kind === 'succeeded',
    faults: [],
    params,
    build:
      build.kind === 'error'
        ? { ms: round(build.ms), error: build.detail }
        : { ms: round(build.ms), image_bytes: build.bytes, warnings: build.warnings },
    ...(run === undefined || verdict === undefined
      ? {}
      : { run: { ...measure(tool, run), ...conclude({ tool, params, secrets, run, verdict }) } }),
    hints: hygieneHints(seen),
  }
}

function measure({ manifest }: FoundTool, { startMs, outcome }: Run) {
  const limits = {
    timeout_ms: Math.round(manifest.constraints.timeout_seconds * 1_000),
    memory_bytes: memoryBytes(manifest.sandbox.memory),
  }
  if (!('wallMs' in outcome)) return { start_ms: round(startMs), ms: 0, ...limits }
  const { wallMs, cpuMs, memoryPeakBytes } = outcome
  return {
    start_ms: round(startMs),
    ms: round(wallMs),
    ...(cpuMs === undefined ? {} : { cpu_ms: round(cpuMs) }),
    ...limits,
    ...(memoryPeakBytes === undefined ? {} : { memory_peak_bytes: memoryPeakBytes }),
    ...(outcome.kind === 'exited' ? { exit_code: outcome.code } : {}),
    ...(outcome.kind === 'exited' && outcome.signal !== undefined ? { signal: outcome.signal } : {}),
  }
}

type Run = NonNullable<Tried['run']>
type Concluded = {
  tool: FoundTool
  params: Record<string, Json>
  secrets: readonly string[]
  run: Run
  verdict: Verdict
}

function conclude({ tool, params, secrets, run, verdict }: Concluded) {
  const { outcome } = run
  const stderr = 'stderrTail' in outcome ? createRedactor(secrets).redact(outcome.stderrTail.toString()) : ''
  const durationMs = 'wallMs' in outcome ? outcome.wallMs : 0
  return {
    ...(stderr === '' ? {} : { stderr_tail: stderr }),
    ...cleanOutput(verdict, { manifest: tool.manifest, params, secrets, durationMs }),
  }
}

const round = (ms: number) => Math.round(ms * 10) / 10
