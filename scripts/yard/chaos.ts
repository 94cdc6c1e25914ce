import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openChaosGround } from '../chaos/open-ground.ts'
import type { Plan } from '../chaos/plan-run.ts'
import { planRun } from '../chaos/plan-run.ts'
import type { Ran } from '../chaos/run-plan.ts'
import { runPlan } from '../chaos/run-plan.ts'
import { prepareDataDir } from '../services/data-dir.ts'
import { chooseEngine } from '../services/engine.ts'
import { Failure } from '../services/failure.ts'
import { findProgram } from '../services/find-program.ts'
import { openTestInstallation } from '../services/installation.ts'
import { isRoot } from '../services/is-root.ts'
import type { Progress } from '../services/progress.ts'
import { createProgress, createRenderer } from '../services/progress.ts'
import { provideCompiler } from '../services/provide-compiler.ts'
import { unlessStopped } from '../services/unless-stopped.ts'
import { listenForStop } from './stop-signals.ts'

const queues = ['postgres', 'redis'] as const
type Queue = (typeof queues)[number]

const defaults = { seeds: 1, invocations: 400, seed: 1 }
const apis = 2
// Fewer calls come in a time in which no fault can be had twice.
const shortBelow = 300

type Wish = { queues: Queue[]; seeds: number[]; invocations: number; json: boolean }
type Verdict = { queue: Queue; seed: number; ran: Ran }

/** Breaks what can break under a load of mixed calls, and judges what came of them. Fails when a promise was broken. */
export async function chaos(args: string[]): Promise<number> {
  const wish = readWish(args)
  const installation = openTestInstallation()
  prepareDataDir(installation)
  const progress = createProgress(createRenderer(process.stderr).show)
  await provideCompiler(installation, progress)
  const choice = await chooseEngine(installation, progress)
  const canOwn = isRoot() && findProgram('dockerd') !== undefined && findProgram('containerd') !== undefined
  const dockerHost = canOwn || choice.kind === 'own' ? undefined : choice.dockerHost
  if (dockerHost !== undefined)
    progress.note(`The engine at ${dockerHost} is not restarted: it is not ours alone`)
  const verdicts: Verdict[] = []
  const faults: string[] = []
  const { stop } = listenForStop()
  for (const queue of wish.queues) {
    const ended = await runSeeds(wish, { queue, dockerHost, progress, stop }, verdicts)
    faults.push(...ended.map((fault) => `${queue}: ${fault}`))
  }
  if (wish.json) console.log(JSON.stringify({ seeds: verdicts.map(toJson), faults }))
  return faults.length === 0 ? 0 : 1
}

type Where = { queue: Queue; dockerHost: string | undefined; progress: Progress; stop: AbortSignal }

/** All seeds on one queue in one house. Answers what is wrong. */
async function runSeeds(wish: Wish, where: Where, verdicts: Verdict[]): Promise<string[]> {
  const { queue, dockerHost, progress, stop } = where
  const ground = await openChaosGround({
    queue,
    apis,
    progress,
    ...(dockerHost === undefined ? {} : { dockerHost }),
  })
  const faults: string[] = []
  try {
    for (const seed of wish.seeds) {
      const plan = planRun(seed, {
        queue,
        apis,
        invocations: wish.invocations,
        ownsEngine: dockerHost === undefined,
        isShort: wish.invocations < shortBelow,
      })
      const title = `Seed ${seed} on ${queue}: ${plan.calls.length} calls, ${plan.faults.length + plan.absences.length} faults`
      const ran = await progress.step(title, () =>
        unlessStopped(stop, runPlan(ground.house, ground.witness, plan)),
      )
      verdicts.push({ queue, seed, ran })
      if (!wish.json) console.log(summarize(queue, ran))
      if (ran.violations.length > 0) faults.push(`seed ${seed}: ${keepStory(ran)}`)
    }
    faults.push(...(await progress.step('Asking all to end', () => ground.endAll())))
    return faults
  } catch (error) {
    if (!stop.aborted) faults.push('it broke off')
    throw error
  } finally {
    const kept = await ground.close({ keepLogs: faults.length > 0 })
    if (kept !== undefined) console.error(`The logs of its processes: ${kept}`)
    for (const fault of faults) console.error(fault)
  }
}

function readWish(args: string[]): Wish {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      seeds: text,
      seed: text,
      invocations: text,
      queue: text,
      json: { type: 'boolean', default: false },
    },
  })
  const count = whole('--seeds', values.seeds ?? String(defaults.seeds), 1, 1_000)
  const first = whole('--seed', values.seed ?? String(defaults.seed), 1, 2 ** 31)
  const queue = queues.find((name) => name === values.queue)
  if (values.queue !== undefined && queue === undefined)
    throw new Failure(`--queue must be ${queues.join(' or ')}`)
  return {
    queues: queue === undefined ? [...queues] : [queue],
    seeds: Array.from({ length: count }, (_, index) => first + index),
    invocations: whole('--invocations', values.invocations ?? String(defaults.invocations), 10, 10_000),
    json: values.json,
  }
}

function whole(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new Failure(`${option} must be a whole number from ${min} to ${max}`)
}

function summarize(queue: Queue, { plan, figures, violations, diary }: Ran): string {
  const { seconds, calls, attempts, starts, effects, statuses } = figures
  const ends = Object.entries(statuses).map(([status, count]) => `${count} ${status}`)
  return [
    `seed ${plan.seed} on ${queue}: ${calls} calls in ${seconds} s, ${attempts} attempts, ${starts} starts, ${effects} effects; ${ends.join(', ')}`,
    ...diary.map((line) => `  ${line}`),
    ...(violations.length === 0
      ? ['  every promise was kept']
      : violations.map(
          ({ rule, id, detail }) => `  BROKEN ${rule}: ${id === undefined ? '' : `${id} `}${detail}`,
        )),
  ].join('\n')
}

/** The plan and what is known of what went wrong, where a person can read it. */
function keepStory(ran: Ran): string {
  const file = join(mkdtempSync(join(tmpdir(), 'toolyard-chaos-')), `seed-${ran.plan.seed}.json`)
  const { plan, violations, offending, diary, history } = ran
  const story = {
    plan: brief(plan),
    diary,
    losses: history.losses,
    left: history.left,
    violations,
    offending,
  }
  writeFileSync(file, JSON.stringify(story, null, 2))
  const first = violations[0]
  return `${violations.length} promises broken (${first?.rule}: ${first?.id ?? ''} ${first?.detail}); plan and history: ${file}`
}

const brief = ({ seed, calls, faults, absences }: Plan) => ({ seed, faults, absences, calls })

const toJson = ({ queue, seed, ran: { figures, diary, violations } }: Verdict) => ({
  queue,
  seed,
  ...figures,
  diary,
  violations,
})
