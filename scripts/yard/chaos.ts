import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openChaosGround } from '../chaos/open-ground.ts'
import type { Plan } from '../chaos/plan-run.ts'
import { planRun } from '../chaos/plan-run.ts'
import type { Ran } from '../chaos/run-plan.ts'
import { runPlan } from '../chaos/run-plan.ts'
import type { QueueKind } from '../house/open-house.ts'
import { prepareDataDir } from '../services/installation/data-dir.ts'
import { chooseEngine } from '../services/engine/engine.ts'
import { findProgram } from '../services/machine/find-program.ts'
import { openTestInstallation } from '../services/installation/installation.ts'
import { isRoot } from '../services/machine/is-root.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { provideCompiler } from '../services/packages/provide-compiler.ts'
import { unlessStopped } from '../services/terminal/unless-stopped.ts'
import { chosenQueues } from './arguments/chosen-queues.ts'
import { listenForStop } from './stop-signals.ts'
import { wholeNumber } from './arguments/whole-number.ts'

const apis = 2
// Fewer calls come in a time in which no fault can be had twice.
const shortBelow = 300

type Wish = { queues: QueueKind[]; seeds: number[]; invocations: number; json: boolean }
type Verdict = { queue: QueueKind; seed: number; ran: Ran }

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

type Where = { queue: QueueKind; dockerHost: string | undefined; progress: Progress; stop: AbortSignal }

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
      const ran = await progress.step(title, () => unlessStopped(stop, runPlan(ground, plan)))
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
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      invocations: { type: 'string', default: '400' },
      queue: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const count = wholeNumber('--seeds', values.seeds, { min: 1, max: 1_000 })
  const first = wholeNumber('--seed', values.seed, { min: 1, max: 2 ** 31 })
  return {
    queues: chosenQueues(values.queue),
    seeds: Array.from({ length: count }, (_, index) => first + index),
    invocations: wholeNumber('--invocations', values.invocations, { min: 10, max: 10_000 }),
    json: values.json,
  }
}

function summarize(queue: QueueKind, { plan, figures, violations, diary }: Ran): string {
  const { seconds, calls, attempts, starts, effects, ticks, statuses } = figures
  const ends = Object.entries(statuses).map(([status, count]) => `${count} ${status}`)
  return [
    `seed ${plan.seed} on ${queue}: ${calls} calls in ${seconds} s, ${attempts} attempts, ${starts} starts, ${effects} effects, ${ticks} ticks; ${ends.join(', ')}`,
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
