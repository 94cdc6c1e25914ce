import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { imageNameFault } from '@toolyard/catalog/image-names'
import { Failure, codeOf } from '../../services/terminal/failure.ts'
import { openInstallation, projectRoot } from '../../services/installation/installation.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { jsonLine, oneLine } from '../text/terminal-text.ts'
import { UsageFault } from '../arguments/usage-fault.ts'

const templates = join(import.meta.dirname, 'templates')
const schema = join(projectRoot, 'tools', 'manifest.schema.json')

/** Makes a tool that works, for its author to change. */
export async function newTool(args: string[]): Promise<number> {
  const options = { lang: { type: 'string' }, json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const made = makeTool({ name, lang: requireLanguage(values.lang), toolDirs: openInstallation().toolDirs })
  console.log(values.json ? jsonLine({ name, ...made }) : describe(name, made).join('\n'))
  return 0
}

/** Named as their folders are, so that there is one list of them. */
export const languages = () =>
  readdirSync(templates, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()

function requireLanguage(lang: string | undefined): string {
  if (lang !== undefined && languages().includes(lang)) return lang
  const found = lang === undefined ? '--lang is missing' : `there is no template for ${JSON.stringify(lang)}`
  throw new UsageFault(`${found}: --lang ${languages().join('|')}`)
}

export type MadeTool = { dir: string; files: string[] }

export function makeTool(wanted: { name: string; lang: string; toolDirs: readonly string[] }): MadeTool {
  const { name, lang, toolDirs } = wanted
  const [first] = toolDirs
  const misnamed = imageNameFault(name, toolDirs.flatMap(basesIn))
  if (misnamed !== undefined) throw new Failure(misnamed)
  if (first === undefined || !existsSync(first))
    throw new Failure(
      `There is no folder ${first ?? ''} for tools: make it, or set YARD_TOOL_DIRS to another`,
    )
  // Two of one name are refused later, both of them.
  const taken = toolDirs.map((each) => join(each, name)).find((path) => existsSync(path))
  if (taken !== undefined) throw new Failure(`${taken} is there already: choose another name, or remove it`)
  const dir = join(first, name)
  makeFolder(dir)
  try {
    const files = readdirSync(join(templates, lang)).sort()
    for (const file of files) copy(join(templates, lang, file), join(dir, file), { name, dir })
    return { dir, files }
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
}

function basesIn(dir: string): string[] {
  const bases = join(dir, '_base')
  return existsSync(bases) ? readdirSync(bases) : []
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new Failure(`${dir} is there already: choose another name, or remove it`)
  }
}

function copy(from: string, to: string, { name, dir }: { name: string; dir: string }): void {
  const text = readFileSync(from, 'utf8')
    .replaceAll('__NAME__', name)
    // A path may hold what JSON escapes.
    .replaceAll('"__SCHEMA__"', () => JSON.stringify(relative(dir, schema)))
  writeFileSync(to, text, { flag: 'wx', mode: statSync(from).mode & 0o777 })
}

function describe(name: string, { dir, files }: MadeTool): string[] {
  const folder = relative(process.cwd(), dir) || '.'
  return [
    `Made ${oneLine(folder)}: ${files.join(', ')}`,
    'Next:',
    `  ./yard tool check ${oneLine(folder)}`,
    `  ./yard tool build ${name}`,
    `  ./yard tool run ${name} --params '{"name": "Ada"}'`,
  ]
}
