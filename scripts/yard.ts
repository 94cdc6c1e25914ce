import { nearestWord } from '@toolyard/contract/nearest-word'
import { Interruption, explain } from './services/terminal/failure.ts'
import { asksForHelp } from './yard/arguments/with-usage.ts'
import { commands, runCommand } from './yard/commands.ts'

// What `./yard` hands over to.

const exit = { usage: 2, failed: 1, broken: 70, interrupted: 130 }

async function main([name, ...args]: string[]): Promise<number> {
  // `help tool run` is what `tool run --help` is.
  if (name === 'help' && args.length > 0 && !asksForHelp(args)) return main([...args, '--help'])
  if (name === undefined || name === 'help' || asksForHelp([name])) {
    console.log(help())
    return name === undefined ? exit.usage : 0
  }
  if (!Object.hasOwn(commands, name)) {
    const nearest = nearestWord(name, Object.keys(commands))
    const hint = nearest === undefined ? 'see ./yard help' : `did you mean "./yard ${nearest}"?`
    console.error(`yard: there is no command "${name}"; ${hint}`)
    return exit.usage
  }
  try {
    return await runCommand(name, args)
  } catch (error) {
    return report(error)
  }
}

function report(error: unknown): number {
  const explanation = explain(error)
  if (explanation !== undefined) {
    console.error(`yard: ${explanation}`)
    return error instanceof Interruption ? exit.interrupted : exit.failed
  }
  console.error('yard: this is a fault of Toolyard itself, please report it:')
  console.error(error)
  return exit.broken
}

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
    'What one takes: ./yard <command> --help, or ./yard help <command>',
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
