import { nearestWord } from '@toolyard/contract/nearest-word'
import { Interruption, explain } from './services/terminal/failure.ts'

// What `./yard` hands over to. Each command is loaded only when it is asked for.

type Command = { about: string; load: () => Promise<(args: string[]) => Promise<number>> }

const commands: Record<string, Command> = {
  up: {
    about: 'start everything, installing what is missing; --detach returns once it is ready',
    load: async () => (await import('./yard/up.ts')).up,
  },
  down: {
    about: 'stop everything; --delete-data removes the data too',
    load: async () => (await import('./yard/down.ts')).down,
  },
  status: {
    about: 'what runs, where, and whether it is ready (--json)',
    load: async () => (await import('./yard/status.ts')).status,
  },
  dev: {
    about: 'like up, restarting the apps when their source changes',
    load: async () => (await import('./yard/dev.ts')).dev,
  },
  tool: {
    about: 'tools: ./yard tool new NAME | check DIR | build | run NAME | list | rollback NAME …',
    load: async () => (await import('./yard/tool.ts')).tool,
  },
  invoke: {
    about: "call a tool: ./yard invoke NAME [--params '{…}'] [--wait] [--topic TOPIC]",
    load: async () => (await import('./yard/invoke.ts')).invoke,
  },
  watch: {
    about: 'follow an invocation, with what the tool says on stderr: ./yard watch ID [--json]',
    load: async () => (await import('./yard/watch.ts')).watch,
  },
  schedule: {
    about:
      'cron tools: ./yard schedule list | show NAME | trigger NAME | pause NAME | resume NAME | set NAME …',
    load: async () => (await import('./yard/schedule.ts')).schedule,
  },
  prompt: {
    about: 'what cron tools left for the agent: ./yard prompt list | claim | ack ID',
    load: async () => (await import('./yard/prompt.ts')).prompt,
  },
  webhook: {
    about: 'try webhooks out: ./yard webhook listen verifies and prints what arrives (--register, --json)',
    load: async () => (await import('./yard/webhook.ts')).webhook,
  },
  test: {
    about: 'run the tests: ./yard test [part of a path …] [--name part of a test name]',
    load: async () => (await import('./test.ts')).runTests,
  },
  verify: {
    about: 'format, lint, types, architecture, dead code; needs no service',
    load: async () => (await import('./yard/verify.ts')).verify,
  },
  logs: {
    about: 'what the services wrote: ./yard logs [service] [-f] [-n LINES]',
    load: async () => (await import('./yard/logs.ts')).logs,
  },
  key: {
    about: 'API keys: ./yard key create --name NAME --scope SCOPE … | list | revoke ID',
    load: async () => (await import('./yard/key.ts')).key,
  },
  vault: {
    about: 'master keys of the vault: ./yard vault rotate [--data-keys] | new-key',
    load: async () => (await import('./yard/vault.ts')).vault,
  },
  migrate: {
    about: 'bring the database up to this release; up does it too',
    load: async () => (await import('./yard/migrate.ts')).migrate,
  },
  soak: {
    about:
      'run for long and see that nothing grows and nothing is left: ./yard soak [--runs N | --minutes N] [--json]',
    load: async () => (await import('./yard/soak.ts')).soak,
  },
  chaos: {
    about:
      'break processes and services under load and judge what came of it: ./yard chaos [--seeds N] [--queue postgres|redis]',
    load: async () => (await import('./yard/chaos.ts')).chaos,
  },
  eval: {
    about: 'how well search finds the right tool: ./yard eval search --data DIR [--json] | fit --data DIR',
    load: async () => (await import('./yard/eval.ts')).evaluate,
  },
  bench: {
    about: 'measure on this machine: ./yard bench [name …] [--json]',
    load: async () => (await import('./yard/bench.ts')).bench,
  },
}

const exit = { usage: 2, failed: 1, broken: 70, interrupted: 130 }

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || ['help', '--help', '-h'].includes(name)) {
    console.log(help())
    return name === undefined ? exit.usage : 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    const nearest = nearestWord(name, Object.keys(commands))
    const hint = nearest === undefined ? 'see ./yard help' : `did you mean "./yard ${nearest}"?`
    console.error(`yard: there is no command "${name}"; ${hint}`)
    return exit.usage
  }
  try {
    const run = await command.load()
    return await run(args)
  } catch (error) {
    // Commands of several verbs explain themselves; of the others this is what there is to say.
    if (!isUsageError(error) || !args.some((arg) => arg === '--help' || arg === '-h')) return report(error)
    console.log(`./yard ${name}: ${command.about}`)
    return 0
  }
}

function report(error: unknown): number {
  const explanation = explain(error)
  if (explanation !== undefined) {
    console.error(`yard: ${explanation}`)
    return error instanceof Interruption ? exit.interrupted : exit.failed
  }
  if (isUsageError(error)) {
    console.error(`yard: ${error.message}`)
    return exit.usage
  }
  console.error('yard: this is a fault of Toolyard itself, please report it:')
  console.error(error)
  return exit.broken
}

// What node:util's parseArgs throws for an option that a command does not have.
const isUsageError = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

function help(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  return [
    'Toolyard runs tools for AI agents.',
    '',
    'Usage: ./yard <command>',
    '',
    ...lines,
    '',
    'Settings: docs/configuration.md',
  ].join('\n')
}

// What a slow reader has not taken from the pipe yet would be lost with the process.
const written = (stream: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve()))

const code = await main(process.argv.slice(2))
await Promise.all([written(process.stdout), written(process.stderr)])
// Exits by name: what a command leaves open (a log that is followed, a watcher) must not keep the shell waiting.
process.exit(code)
