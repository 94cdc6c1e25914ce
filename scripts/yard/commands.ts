import assert from 'node:assert/strict'
import type { Run } from './arguments/with-usage.ts'
import { withUsage } from './arguments/with-usage.ts'

type Command = {
  /** One line of the list. */
  about: string
  /** What is typed behind the name, and what its options mean. Without it the command explains itself, as by `runVerb`. */
  usage?: string
  details?: readonly string[]
  /** Loaded only when it is asked for. */
  load: () => Promise<Run>
}

export const commands: Readonly<Record<string, Command>> = {
  up: {
    about: 'start everything, installing what is missing; --detach returns once it is ready',
    usage: '[--detach]',
    details: ['  -d, --detach  return once it is ready; without it Ctrl-C stops everything again'],
    load: async () => (await import('./up.ts')).up,
  },
  down: {
    about: 'stop everything; --delete-data removes the data too',
    usage: '[--delete-data [--yes]]',
    details: [
      '  --delete-data  remove the database, the keys, the images and the logs, once that is confirmed',
      '  -y, --yes      do not ask',
    ],
    load: async () => (await import('./down.ts')).down,
  },
  status: {
    about: 'what runs, where, and whether it is ready (--json)',
    usage: '[--json]',
    details: ['Exit code 3: it is down, or not ready.'],
    load: async () => (await import('./status.ts')).status,
  },
  dev: {
    about: 'like up, restarting the apps when their source changes',
    usage: '',
    load: async () => (await import('./dev.ts')).dev,
  },
  tool: {
    about: 'tools: ./yard tool new NAME | check DIR | build | run NAME | list | rollback NAME …',
    load: async () => (await import('./tool.ts')).tool,
  },
  invoke: {
    about: 'call a tool and leave the call to itself; ./yard tool run waits for it, and cancels it on Ctrl-C',
    usage:
      "NAME [--params '{…}'] [--wait] [--topic TOPIC] [--idempotency-key KEY] [--json] [--key-file FILE]",
    details: [
      '  --params  a JSON object; - reads it from stdin',
      '  --wait    follow it to its end. Ctrl-C ends only the waiting: the call goes on, as with ./yard watch',
      'Exit code 0: it is accepted, or with --wait it succeeded.',
    ],
    load: async () => (await import('./invoke.ts')).invoke,
  },
  watch: {
    about: 'follow an invocation, with what the tool says on stderr: ./yard watch ID [--json]',
    usage: 'ID [--json] [--key-file FILE]',
    details: [
      'Until it has ended; Ctrl-C ends only the watching. Exit code 1 unless it succeeded.',
      '  --json  each event as a line, and the invocation as the last one',
    ],
    load: async () => (await import('./watch.ts')).watch,
  },
  schedule: {
    about:
      'cron tools: ./yard schedule list | show NAME | trigger NAME | pause NAME | resume NAME | set NAME …',
    load: async () => (await import('./schedule.ts')).schedule,
  },
  prompt: {
    about: 'what cron tools left for the agent: ./yard prompt list | claim | ack ID',
    load: async () => (await import('./prompt.ts')).prompt,
  },
  webhook: {
    about: 'try webhooks out: ./yard webhook listen verifies and prints what arrives (--register, --json)',
    load: async () => (await import('./webhook.ts')).webhook,
  },
  test: {
    about: 'run the tests: ./yard test [part of a path …] [--name part of a test name]',
    usage: '[PART …] [--name PART …]',
    details: [
      'Those whose path has one of the parts, or all; on services that it starts, or that the environment names.',
      '  --name PART  only tests whose name has it',
    ],
    load: async () => (await import('../test.ts')).runTests,
  },
  verify: {
    about: 'format, lint, types, architecture, dead code; needs no service',
    usage: '[OPTION …]',
    details: ['Options are handed to turbo: --force checks again what has not changed.'],
    load: async () => (await import('./verify.ts')).verify,
  },
  logs: {
    about: 'what the services wrote: ./yard logs [service] [-f] [-n LINES]',
    usage: '[SERVICE …] [--follow] [--lines N]',
    details: [
      'Services: api, worker, scheduler, supervisor, postgres, engine; the first four when none is named.',
      '  -f, --follow   go on with what they write',
      '  -n, --lines N  how many of the last lines, 50 when not told',
    ],
    load: async () => (await import('./logs.ts')).logs,
  },
  key: {
    about: 'API keys: ./yard key create --name NAME --scope SCOPE … | list | revoke ID',
    load: async () => (await import('./key.ts')).key,
  },
  vault: {
    about: 'master keys of the vault: ./yard vault rotate [--data-keys] | new-key',
    load: async () => (await import('./vault.ts')).vault,
  },
  migrate: {
    about: 'bring the database up to this release; up does it too',
    usage: '',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  soak: {
    about: 'run for long and see that nothing grows and nothing is left',
    usage: '[--runs N | --minutes N [--queue postgres|redis]] [--json]',
    details: [
      '  --runs N     so many runs of the sandbox alone; 20,000 when nothing is told',
      '  --minutes N  the whole path for so long, at four fifths of what it can sustain',
      '  --queue      on that queue only; on both, one after the other, when not told',
    ],
    load: async () => (await import('./soak.ts')).soak,
  },
  chaos: {
    about: 'break processes and services under load and judge what came of it',
    usage: '[--seeds N] [--seed FIRST] [--invocations N] [--queue postgres|redis] [--json]',
    details: [
      '  --seeds N        how many runs; 1 when not told',
      '  --seed FIRST     the seed of the first, 1 when not told. One seed is always the same calls and faults',
      '  --invocations N  calls in each; 400 when not told',
      '  --queue          on that queue only; on both, one after the other, when not told',
    ],
    load: async () => (await import('./chaos.ts')).chaos,
  },
  eval: {
    about: 'how well search finds the right tool: ./yard eval search --data DIR [--json] | fit --data DIR',
    load: async () => (await import('./eval.ts')).evaluate,
  },
  bench: {
    about: 'measure on this machine: ./yard bench [name …] [--json]',
    load: async () => (await import('./bench.ts')).bench,
  },
}

/** Answers the exit code. */
export async function runCommand(name: string, args: string[]): Promise<number> {
  const { about, usage, details = [], load } = commands[name] ?? assert.fail(name)
  const run = async () => (await load())(args)
  if (usage === undefined) return run()
  return withUsage({ args, usage: `./yard ${name} ${usage}`, about: [about, ...details].join('\n') }, run)
}
