import { nearestWord } from '@toolyard/contract/nearest-word'
import { columns } from './text/terminal-text.ts'
import { UsageFault } from './arguments/usage-fault.ts'

// For those who write tools, and those who run an installation. `new` and `check` need nothing that runs, or an engine
// alone; the others ask the API.

type Verb = { usage: string; about: string; load: () => Promise<(args: string[]) => Promise<number>> }

const asking = '[--json] [--key-file FILE]'

const verbs: Record<string, Verb> = {
  new: {
    usage: 'NAME --lang bash|python|node [--json]',
    about: 'make a tool that works, to begin with',
    load: async () => (await import('./tool/new-tool.ts')).newTool,
  },
  check: {
    usage: "DIR [--params '{…}'] [--settings '{…}'] [--json]",
    about: 'build it and run it once in the real sandbox; - reads the object from stdin',
    load: async () => (await import('./tool/check-tool.ts')).checkTool,
  },
  build: {
    usage: `[NAME …] ${asking}`,
    about: 'have the folders read again, and wait for the images',
    load: async () => (await import('./tool/build-tools.ts')).buildTools,
  },
  run: {
    usage: `NAME [--params '{…}'] [--topic TOPIC] ${asking}`,
    about: 'one call, as an agent makes it; - reads the params from stdin',
    load: async () => (await import('./tool/run-tool.ts')).runTool,
  },
  list: {
    usage: asking,
    about: 'all tools, with what is wrong with them',
    load: async () => (await import('./tool/list-tools.ts')).listTools,
  },
  versions: {
    usage: `NAME ${asking}`,
    about: 'the versions of a tool',
    load: async () => (await import('./tool/tool-versions.ts')).listVersions,
  },
  rollback: {
    usage: `NAME [--to HASH] ${asking}`,
    about: 'go back to the version that served before, or to that one',
    load: async () => (await import('./tool/tool-versions.ts')).rollBackTool,
  },
  enable: {
    usage: `NAME|--all ${asking}`,
    about: 'switch a tool on; --all: the switch above all of them',
    load: async () => (await import('./tool/switch-tool.ts')).switchTool('enable'),
  },
  disable: {
    usage: `NAME|--all ${asking}`,
    about: 'switch a tool off; --all: no tool is run',
    load: async () => (await import('./tool/switch-tool.ts')).switchTool('disable'),
  },
  config: {
    usage: `NAME [KEY=VALUE … | --unset KEY] ${asking}`,
    about: 'settings of a tool; KEY=- reads a secret from stdin',
    load: async () => (await import('./tool/configure-tool.ts')).configureTool,
  },
}

/** Exit code 0: done. 1: it failed, or the tool did. 2: typed wrongly. */
export async function tool([name, ...args]: string[]): Promise<number> {
  const verb = name !== undefined && Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (name === 'help' || name === '--help' || name === '-h') {
    console.log(help())
    return 0
  }
  if (name === undefined || verb === undefined) {
    const nearest = name === undefined ? undefined : nearestWord(name, Object.keys(verbs))
    if (nearest !== undefined) console.error(`yard: there is no "tool ${name}"; did you mean "${nearest}"?`)
    console.error(help())
    return 2
  }
  const usage = `Usage: ./yard tool ${name} ${verb.usage}`
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`${usage}\n${verb.about}`)
    return 0
  }
  const run = await verb.load()
  try {
    return await run(args)
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error
    console.error(`yard: ${error.message}\n${usage}`)
    return 2
  }
}

const help = () =>
  [
    'Usage: ./yard tool <command>',
    '',
    ...columns(Object.entries(verbs).map(([name, { about }]) => [`  ${name}`, about])),
    '',
    'What each takes: ./yard tool <command> --help',
  ].join('\n')
