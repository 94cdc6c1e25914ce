import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { SandboxesOptions } from '../create-sandboxes.ts'
import type { Outcome } from '../outcome.ts'
import type { RunRequest, Sandbox, SandboxSpec, Sandboxes } from '../sandboxes.ts'
import type { StockEvent } from '../stock/stock.ts'

/** One engine with the probe (fixtures/probe.c) on it, shared with no other test. */
export type Rig = {
  open(
    options: Omit<SandboxesOptions, 'launcher'> & { worker: string; onStuck: (stuck: Stuck) => void },
  ): Sandboxes
  /** A tool that does what its payload says. */
  probe: SandboxSpec
  missingImage: string
  /** Every sandbox of ours that is there in any state, and those that are alive. */
  list(): Promise<{ id: string; isAlive: boolean }[]>
  /** Ends one from outside, as an operator or a broken machine would. */
  kill(id: string): Promise<void>
  /** Whatever else could be left: volumes, mounts, networks. What comes back waits until nothing new is there. */
  watchLeftovers(): Promise<() => Promise<void>>
  /** From now on the engine cannot be reached; and again. */
  cut(): void
  mend(): void
  /** All that the engine would tell or has written down of a sandbox. */
  records(id: string): Promise<string>
  /** A worker in a process of its own that runs this payload and then says `running <id>` on its stdout. */
  startWorker(name: string, payload: string): ChildProcess
  close(): Promise<void>
}

export type Stuck = { id: string; detail: string }
export type MakeRig = () => Promise<Rig>

type Opened = { sandboxes: Sandboxes; events: StockEvent[]; stuck: Stuck[] }

/** Sandboxes whose test fails if anything is left of them. */
export async function openSandboxes(
  t: TestContext,
  rig: Rig,
  options: Omit<SandboxesOptions, 'launcher'> & { worker?: string } = {},
): Promise<Opened> {
  const events: StockEvent[] = []
  const stuck: Stuck[] = []
  const nothingIsLeft = await rig.watchLeftovers()
  const sandboxes = rig.open({
    worker: 'w1',
    isCoreWanted: () => false,
    ...options,
    onEvent: (event) => events.push(event),
    onStuck: (one) => stuck.push(one),
  })
  t.after(async () => {
    rig.mend()
    await sandboxes.close()
    await rig.close()
    assert.deepEqual(await rig.list(), [])
    await nothingIsLeft()
  })
  return { sandboxes, events, stuck }
}

export async function takeOne(
  sandboxes: Sandboxes,
  spec: SandboxSpec,
  options: { topic?: string; signal?: AbortSignal } = {},
): Promise<Sandbox> {
  const taken = await sandboxes.take(spec, { topic: 'topic', ...options })
  assert.ok(taken.kind === 'taken', JSON.stringify(taken))
  return taken.sandbox
}

export const request = (payload: string, change: Partial<RunRequest> = {}): RunRequest => ({
  payload,
  env: {},
  timeoutMs: 10_000,
  stdoutMaxBytes: 1_048_576,
  stderrMaxBytes: 262_144,
  ...change,
})

/** Take, run, release. */
export async function runOnce(
  sandboxes: Sandboxes,
  spec: SandboxSpec,
  payload: string,
  change: Partial<RunRequest> = {},
): Promise<Outcome> {
  const sandbox = await takeOne(sandboxes, spec)
  const outcome = await sandbox.run(request(payload, change))
  await sandbox.release()
  return outcome
}

/** An outcome in one line, for the message of a failing test. */
export function told({ stdout, stderrTail, ...rest }: Outcome): string {
  const sizes = {
    stdout: stdout.length,
    begins: String(stdout.subarray(0, 60)),
    stderr: String(stderrTail.subarray(0, 60)),
  }
  return JSON.stringify({ ...rest, ...sizes })
}

/** What the probe's `pattern` writes. */
export function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = (at * 31) % 251
  return bytes
}
