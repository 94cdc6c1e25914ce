import { toRunRequest, toSandboxSpec } from '@toolyard/catalog/to-sandbox-spec'
import { AppError } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'
import { encodePayload } from '@toolyard/contract/payload'
import { fillTelemetry } from '@toolyard/contract/telemetry'
import { settingsToHand } from '@toolyard/contract/webhook-trigger'
import type { Attempt } from '@toolyard/invocations/claim'
import { recordHandover } from '@toolyard/invocations/record-handover'
import type { StderrSender } from '@toolyard/invocations/stderr-sender'
import type { WideEvent } from '@toolyard/log/wide-event'
import type { Sandbox, Sandboxes } from '@toolyard/sandbox/sandboxes'
import type { Vault } from '@toolyard/vault/open-vault'
import { missingKeys } from '@toolyard/vault/missing-keys'
import type { ToolSettings } from '@toolyard/vault/read-settings'
import { readSettings } from '@toolyard/vault/read-settings'
import { askWhileHeld } from './ask-while-held.ts'
import type { Held } from './held-attempt.ts'
import { hearStderr } from './live-stderr.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { VersionReader } from './read-version.ts'
import { toRunnableImage } from './read-version.ts'
import type { RunEnd } from './run-end.ts'

export type RunDeps = {
  vault: Vault
  sandboxes: Pick<Sandboxes, 'take'>
  memory: MemoryBudget
  readVersion: VersionReader
  stderr: Pick<StderrSender, 'isWanted' | 'open'>
  /** Told of a database that does not answer, for which an attempt waits. */
  onWaiting: (error: unknown) => void
}

/** One attempt while it runs. What it finds out stays here also when something throws. */
export type Running = {
  attempt: Attempt
  held: Held
  event: Pick<WideEvent, 'set'>
  /** Gives back what was taken, in the right order. */
  taken: AsyncDisposableStack
  manifest: Manifest | undefined
  secrets: readonly string[]
  isHandedOver: boolean
}

// Beyond its deadline: the init's kill, the watch from outside, the autopsy of what was lost.
const endGraceMs = 30_000

/** Takes room and a sandbox, hands over, and waits for the end. Whatever was taken is in `running.taken`. */
export async function runInSandbox(deps: RunDeps, running: Running): Promise<RunEnd> {
  const { attempt, held, event, taken } = running
  const manifest = deps.readVersion(attempt)
  if (manifest === undefined) return { kind: 'manifest_unreadable' }
  running.manifest = manifest
  const spec = toSandboxSpec(manifest, toRunnableImage(attempt.imageId, attempt.imageFacts))

  const room = await timed(event, 'memory_wait_ms', () => deps.memory.take(spec.memoryBytes, held.signal))
  if (room.kind === 'stopped') return room
  if (room.kind === 'too_large')
    return { kind: 'memory_too_large', neededBytes: spec.memoryBytes, totalBytes: room.totalBytes }
  taken.defer(room.release)

  const answer = await timed(event, 'sandbox_wait_ms', () =>
    deps.sandboxes.take(spec, { topic: attempt.topic, signal: held.signal }),
  )
  if (answer.kind !== 'taken') return { kind: 'no_sandbox', failure: answer }
  const { sandbox } = answer
  taken.defer(() => sandbox.release())
  event.set({ sandbox_source: sandbox.source, container: sandbox.id })
  return handOver(deps, running, manifest, sandbox)
}

async function handOver(
  deps: RunDeps,
  running: Running,
  manifest: Manifest,
  sandbox: Sandbox,
): Promise<RunEnd> {
  const { attempt, held, event } = running
  const settings = await loadSettings(deps, attempt.tool, manifest, held.signal)
  if ('kind' in settings) return settings
  running.secrets = settings.secrets
  const encoded = encodePayload(
    {
      params: attempt.params,
      settings: settingsToHand(manifest.trigger, settings.settings),
      // The api has checked what it stored by the same schema.
      telemetry: fillTelemetry(attempt.telemetry),
    },
    manifest.input,
  )
  if ('kind' in encoded) return { kind: 'payload_too_large', tooLarge: encoded }

  // Nothing is handed over unless the row says so first: a database that does not know would have it started again,
  // and a lease that has run out may be somebody else's before the tool begins.
  if (!manifest.constraints.rerun) held.protect()
  const recorded = await timed(event, 'handover_ms', () =>
    askWhileHeld(() => recordHandover(deps.vault.pool, attempt, sandbox.id), {
      signal: held.signal,
      onFailure: deps.onWaiting,
    }),
  )
  if (recorded.kind === 'stopped' || held.signal.aborted) return { kind: 'stopped' }
  if (recorded.answer === 'lost') return { kind: 'lease_gone' }
  if (recorded.answer === 'cancel_requested') return { kind: 'stopped' }

  const call = { payload: encoded.payload, invocation: attempt.id, attempt: attempt.attempt }
  const request = toRunRequest(manifest, call)
  held.expectEndWithin(request.timeoutMs + endGraceMs)
  running.isHandedOver = true
  const stderr = hearStderr(deps.stderr, attempt, running.secrets)
  const outcome = await sandbox.run({ ...request, signal: held.signal, onStderr: stderr.onStderr })
  // Before its end is told: who watches hears the last words first.
  await stderr.end(outcome.stderrBytes)
  return { kind: 'ran', outcome }
}

/** Just before the run, so that what was changed a moment ago is what the tool gets. */
async function loadSettings(
  { vault, onWaiting }: RunDeps,
  tool: string,
  { config_schema: schema }: Manifest,
  signal: AbortSignal,
): Promise<ToolSettings | RunEnd> {
  if (Object.keys(schema).length === 0) return { settings: {}, secrets: [] }
  const ask = async () => {
    const keys = await missingKeys(vault.pool, tool, schema)
    return keys.length > 0 ? { kind: 'not_configured' as const, keys } : readSettings(vault, tool, schema)
  }
  try {
    const asked = await askWhileHeld(ask, { signal, onFailure: onWaiting })
    return asked.kind === 'stopped' ? asked : asked.answer
  } catch (error) {
    if (error instanceof AppError && error.code === 'secrets_unavailable')
      return { kind: 'settings_unreadable' }
    throw error
  }
}

async function timed<T>(event: Pick<WideEvent, 'set'>, name: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  try {
    return await work()
  } finally {
    event.set({ [name]: Math.round((performance.now() - startedMs) * 100) / 100 })
  }
}
