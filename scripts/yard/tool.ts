import type { Verb } from './arguments/run-verb.ts'
import { asking, runVerb } from './arguments/run-verb.ts'

// For those who write tools, and those who run an installation. `new` and `check` need nothing that runs, or an engine
// alone; the others ask the API.

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
    about: 'one call, as an agent makes it, to its end; - reads the params from stdin',
    details: [
      'Ctrl-C cancels the call. ./yard invoke NAME makes one that goes on by itself. Exit code 1 unless it succeeded.',
    ],
    load: async () => (await import('./tool/run-tool.ts')).runTool,
  },
  list: {
    usage: asking,
    about: 'all tools, with what is wrong with them',
    load: async () => (await import('./tool/list-tools.ts')).listTools,
  },
  search: {
    usage: `WORDS … [--topic TOPIC] [--limit N] [--explain] ${asking}`,
    about: 'the tools that fit what is needed, as an agent finds them',
    load: async () => (await import('./tool/search-tools.ts')).searchTools,
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

export const tool = (args: string[]): Promise<number> => runVerb('tool', verbs, args)
