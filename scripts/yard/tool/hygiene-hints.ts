import type { FoundTool } from '@toolyard/catalog/found-tool'
import { memoryBytes } from '@toolyard/contract/memory-bytes'
import type { Tried } from './try-on-engine.ts'
import type { Verdict } from './judge-run.ts'

// What works and could still be better. Only what is known, never what is guessed.

export type Seen = {
  tool: Pick<FoundTool, 'manifest' | 'entries'>
  /** Required settings that the run had to do without. */
  missingSettings: readonly string[]
  tried?: Tried
  verdict?: Verdict
}

const descriptionMin = 40
const timeoutCeilingSeconds = 900
const nearlyAll = 0.8
const strays = ['.git', 'node_modules', '__pycache__', '.venv', '.env']

export function hygieneHints({ tool, missingSettings, tried, verdict }: Seen): string[] {
  return [
    ...manifestHints(tool.manifest),
    ...strays.flatMap((name) =>
      tool.entries.some(({ path }) => path === name)
        ? [
            `${name} is sent into the build, where COPY . would put it into the image: name it in .dockerignore`,
          ]
        : [],
    ),
    ...(tried === undefined ? [] : imageHints(tried)),
    ...(tried?.run === undefined ? [] : runHints(tool.manifest, tried.run)),
    ...(verdict?.kind === 'succeeded' ? outputHints(verdict) : []),
    ...missingSettings.map(
      (key) => `the setting ${key} is required and was not given: --settings '{"${key}": …}'`,
    ),
  ]
}

function manifestHints({ description, examples, parameters, constraints }: FoundTool['manifest']): string[] {
  const undescribed = Object.keys(parameters).filter((name) => !parameters[name]?.description)
  return [
    ...(examples.length === 0
      ? ['there are no examples: they feed the search and the documentation, and this check']
      : []),
    ...(description.length < descriptionMin
      ? [
          `the description has ${description.length} characters: say what the tool does and when to use it, it is chosen by these words`,
        ]
      : []),
    ...undescribed.map((name) => `the parameter ${name} has no description: the model guesses what it means`),
    ...(constraints.timeout_seconds >= timeoutCeilingSeconds
      ? [
          `timeout_seconds is at the ceiling: a call that hangs holds its place for ${constraints.timeout_seconds} s`,
        ]
      : []),
  ]
}

function imageHints({ build }: Tried): string[] {
  if (build.kind === 'error') return []
  return [...build.warnings, ...(build.uid === 0 ? ['it runs as root: name another USER, or none'] : [])]
}

function runHints({ sandbox, constraints }: FoundTool['manifest'], run: NonNullable<Tried['run']>): string[] {
  const { outcome, hasNetwork } = run
  if (outcome.kind !== 'exited') return []
  const peak = (outcome.memoryPeakBytes ?? 0) / memoryBytes(sandbox.memory)
  const time = outcome.wallMs / (constraints.timeout_seconds * 1_000)
  const isCutOff = sandbox.network === 'bridge' && !hasNetwork
  return [
    ...(peak > nearlyAll ? [`it used ${percent(peak)} of its memory: raise sandbox.memory`] : []),
    ...(time > nearlyAll ? [`it used ${percent(time)} of its time: raise constraints.timeout_seconds`] : []),
    ...(isCutOff && outcome.code === 0
      ? ['it ended well without a network: if it never needs one, set sandbox.network to "none"']
      : []),
    ...(outcome.isOutputComplete ? [] : ['something that it started still held its output when it ended']),
    ...(outcome.code === 0 && !isWhole(outcome.stdout)
      ? ['stdout holds more than the one object: write logs to stderr']
      : []),
  ]
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** Nothing else was found in it, so it is the last line that counted. */
function isWhole(stdout: Buffer): boolean {
  try {
    JSON.parse(stdout.toString())
    return true
  } catch {
    return false
  }
}

function outputHints({ output }: Extract<Verdict, { kind: 'succeeded' }>): string[] {
  const says = [output.text, output.html].some((part) => part !== null && part.trim() !== '')
  return says ? [] : ['it gave neither text nor html: the model learns nothing from it']
}
