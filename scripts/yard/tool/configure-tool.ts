import { parseArgs } from 'node:util'
import type { ToolConfig } from '@toolyard/contract/tools'
import { configDeletedShape, toolConfigShape } from '@toolyard/contract/tools'
import type { Api } from '../api/open-api.ts'
import { readAnswer } from '../api/open-api.ts'
import { askingOptions, openDesk } from '../api/desk.ts'
import type { Paint } from '../text/paint.ts'
import { requireToolName } from '../arguments/read-arguments.ts'
import { readSecret } from '../arguments/read-stdin.ts'
import { columns, indent, oneLine } from '../text/terminal-text.ts'
import { UsageFault } from '../arguments/usage-fault.ts'

/** Shows what is stored for a tool, stores some of it, or forgets one. Secrets are never shown. */
export async function configureTool(args: string[]): Promise<number> {
  const options = { ...askingOptions, unset: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [word, ...pairs] = positionals
  if (word === undefined) throw new UsageFault('NAME is missing')
  const path = `/tools/${requireToolName(word)}/config`
  if (values.unset !== undefined && pairs.length > 0) throw new UsageFault('either KEY=VALUE or --unset KEY')
  const given = readPairs(pairs)
  const { api, tell } = openDesk(values)
  if (values.unset !== undefined) await forget(api, path, values.unset)
  if (given.size > 0) {
    const { config_schema: schema } = readAnswer(toolConfigShape, await api.call(path))
    await api.call(path, { method: 'PUT', body: await valuesOf(given, schema) })
  }
  const answer = await api.call(path)
  tell(answer, (paint) => configLines(readAnswer(toolConfigShape, answer), paint))
  return 0
}

async function forget(api: Api, path: string, key: string): Promise<void> {
  const answer = await api.call(`${path}/${encodeURIComponent(key)}`, { method: 'DELETE' })
  if (!readAnswer(configDeletedShape, answer).deleted) console.error(`There was no ${oneLine(key)}`)
}

export function readPairs(pairs: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    // The pair is not repeated: what stands behind a key may be a secret.
    if (at <= 0) throw new UsageFault('settings are given as KEY=VALUE, or KEY=- to be read from stdin')
    const key = pair.slice(0, at)
    if (found.has(key)) throw new UsageFault(`${JSON.stringify(key)} is given twice`)
    found.set(key, pair.slice(at + 1))
  }
  const read = [...found].filter(([, value]) => value === '-')
  if (read.length > 1 && !process.stdin.isTTY)
    throw new UsageFault('only one setting at a time can be read from stdin')
  return found
}

type Schema = ToolConfig['config_schema']

/** What the shell's history keeps is no secret any more. */
async function valuesOf(given: ReadonlyMap<string, string>, schema: Schema): Promise<Record<string, string>> {
  for (const [key, value] of given) {
    const isSecret = Object.hasOwn(schema, key) && schema[key]?.secret === true
    if (isSecret && value !== '-' && value !== '***')
      throw new UsageFault(`${key} is a secret: give ${key}=- and type it, or send it to stdin`)
  }
  const entries: [string, string][] = []
  for (const [key, value] of given) entries.push([key, value === '-' ? await readSecret(key) : value])
  return Object.fromEntries(entries)
}

export function configLines({ config_schema: schema, config }: ToolConfig, paint: Paint): string[] {
  const keys = Object.keys(schema)
  if (keys.length === 0) return ['It has nothing to configure']
  const rows = columns([
    ['KEY', 'VALUE', ''].map(paint.faint),
    ...keys.map((key) => [oneLine(key), valueOf(key, schema, config, paint), traitsOf(schema[key])]),
  ])
  const [head = '', ...lines] = rows
  return [head, ...lines.flatMap((line, index) => [line].concat(aboutOf(schema[keys[index] ?? ''], paint)))]
}

function valueOf(key: string, schema: Schema, config: ToolConfig['config'], paint: Paint): string {
  const setting = schema[key]
  if (Object.hasOwn(config, key)) return oneLine(String(config[key]))
  if (setting?.default !== undefined) return paint.faint(`${oneLine(String(setting.default))} (default)`)
  return setting?.required === true ? paint.bad('missing') : paint.faint('not set')
}

const traitsOf = (setting: Schema[string] | undefined) =>
  [...(setting?.required ? ['required'] : []), ...(setting?.secret ? ['secret'] : [])].join(', ')

const aboutOf = (setting: Schema[string] | undefined, paint: Paint) =>
  setting?.description ? [paint.faint(indent(oneLine(setting.description)))] : []
