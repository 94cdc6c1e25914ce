import { parseArgs } from 'node:util'
import { probeEngine } from '@toolyard/sandbox/engine'
import type { Installation } from '../services/installation/installation.ts'
import { openInstallation } from '../services/installation/installation.ts'
import type { ProcessIdentity } from '../services/machine/process-identity.ts'
import { isAlive } from '../services/machine/process-identity.ts'
import { askReadiness } from '../services/supervisor/readiness.ts'
import { describeDatabase, describeEngine, describeNetwork } from '../services/supervisor/summary.ts'
import type { SupervisorState } from '../services/supervisor/state.ts'
import { readLiveState } from '../services/supervisor/state.ts'

type Part = { name: string; state: string; pid?: number; since?: string; restarts?: number; detail: string }

const isDown = 3

/** Exit code 0: up and ready. 3: not. */
export async function status(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const installation = openInstallation()
  const state = readLiveState(installation.paths.state)
  if (state === undefined) {
    const answer = { state: 'down', dataDir: installation.dataDir }
    console.log(
      values.json ? JSON.stringify(answer) : `Toolyard is down (data in ${installation.dataDir}): ./yard up`,
    )
    return isDown
  }
  const [parts, readiness] = await Promise.all([describeParts(installation, state), askReadiness(state.url)])
  if (values.json) {
    const { ready, detail, body } = readiness
    const answer = {
      state: state.phase,
      ready,
      url: state.url,
      dataDir: installation.dataDir,
      parts,
      readyz: body ?? detail,
    }
    console.log(JSON.stringify(answer))
  } else {
    console.log(`Toolyard is ${readiness.ready ? 'ready' : `${state.phase}, but not ready`} at ${state.url}`)
    console.log(formatTable(parts, Date.now()))
    console.log(`data       ${installation.dataDir}`)
    console.log(`readyz     ${readiness.ready ? JSON.stringify(readiness.body) : readiness.detail}`)
  }
  return readiness.ready ? 0 : isDown
}

async function describeParts(installation: Installation, state: SupervisorState): Promise<Part[]> {
  const { database, engine } = state
  const engineAnswer = engine && (await probeEngine(engine.dockerHost))
  const apps = Object.entries(state.apps).map(([name, { phase, process, startedAt, restarts }]): Part => {
    const part: Part = { name, state: phase, restarts, detail: name === 'api' ? state.url : '' }
    if (process !== undefined && isAlive(process)) Object.assign(part, { pid: process.pid, since: startedAt })
    return part
  })
  const engineDetail =
    engineAnswer?.state === 'ready' ? `Docker ${engineAnswer.version}` : (engineAnswer?.detail ?? '')
  return [
    { name: 'supervisor', state: state.phase, pid: state.pid, since: state.startedAt, detail: '' },
    ...apps,
    {
      name: 'database',
      state: database?.process === undefined ? 'external' : aliveness(database.process),
      ...pidOf(database?.process),
      detail: describeDatabase(state),
    },
    {
      name: 'engine',
      state: engineAnswer?.state ?? 'not started',
      ...pidOf(engine?.process),
      detail: `${describeEngine(state)} ${engineDetail}`.trim(),
    },
    { name: 'network', ...describeNetwork(state) },
    { name: 'queue', state: state.queue, detail: state.queue === 'redis' ? 'REDIS_URL' : 'in the database' },
    {
      name: 'admin key',
      state: state.adminKey ?? 'not made yet',
      detail: state.adminKey === 'in-file' ? installation.paths.adminKey : '',
    },
  ]
}

const aliveness = (process: ProcessIdentity) => (isAlive(process) ? 'running' : 'gone')
const pidOf = (process: ProcessIdentity | undefined) => (process === undefined ? {} : { pid: process.pid })

export function formatTable(parts: Part[], nowMs: number): string {
  const rows = parts.map(({ name, state, pid, since, restarts, detail }) => [
    name,
    state,
    pid === undefined ? '' : `pid ${pid}`,
    since === undefined ? '' : `up ${formatDuration(nowMs - Date.parse(since))}`,
    [restarts === undefined || restarts === 0 ? '' : `restarted ${restarts} times`, detail]
      .filter(Boolean)
      .join(', '),
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}
