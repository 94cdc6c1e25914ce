import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { nearestWord } from '@toolyard/contract/nearest-word'
import { Secret } from './secret.ts'
import type { Setting } from './setting.ts'
import type { Config, SettingName } from './settings.ts'
import { settings } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type ConfigFault = { variable: string; detail: string }

/** All faults of the environment at once; its message is what a person reads before exit 1. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const lines = faults.map((fault) => `  ${fault.variable}: ${fault.detail}`)
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`,
    )
    this.faults = faults
  }
}

/** Reads the named settings from `environment` into a frozen object, or throws one ConfigError with every fault. */
export function loadConfig<const N extends SettingName>(
  names: readonly N[],
  environment: Environment,
): Config<N> {
  const faults = unknownVariables(environment)
  const values: Partial<Record<SettingName, unknown>> = {}
  for (const name of names) {
    const read = readSetting(settings[name], environment)
    if ('fault' in read) faults.push(read.fault)
    else values[name] = read.value
  }
  if (faults.length > 0) throw new ConfigError(faults)
  // safe because every name was read above by the parser that gives its type
  return Object.freeze(values) as Config<N>
}

function readSetting(
  setting: Setting,
  environment: Environment,
): { value: unknown } | { fault: ConfigFault } {
  const raw = rawValue(setting, environment)
  if ('fault' in raw) return raw
  const source = raw.value ?? setting.default
  if (source === undefined) return { value: undefined }
  const parsed = setting.parse.safeParse(source)
  if (!parsed.success) {
    // The value itself is left out: a mistyped secret must not reach a terminal or a log.
    return fault(raw.variable, parsed.error.issues.map((issue) => issue.message).join('; '))
  }
  const isFromFile = raw.variable !== setting.env
  if (!isFromFile || !(parsed.data instanceof Secret)) return { value: parsed.data }
  return { value: new Secret(parsed.data.reveal(), () => readSecretAgain(setting, environment)) }
}

function readSecretAgain(setting: Setting, environment: Environment): Secret {
  const read = readSetting(setting, environment)
  if ('fault' in read) throw new ConfigError([read.fault])
  assert(read.value instanceof Secret, 'its variables are those of the start')
  return read.value
}

function rawValue(
  setting: Setting,
  environment: Environment,
): { variable: string; value: string | undefined } | { fault: ConfigFault } {
  const direct = nonEmpty(environment[setting.env])
  const fileVariable = `${setting.env}_FILE`
  const file = setting.secret ? nonEmpty(environment[fileVariable]) : undefined
  if (file === undefined) return { variable: setting.env, value: direct }
  if (direct !== undefined) return fault(setting.env, `is set twice: unset it or ${fileVariable}`)
  try {
    const value = nonEmpty(readFileSync(file, 'utf8').trim())
    if (value === undefined) return fault(fileVariable, 'names an empty file: write the value into it')
    return { variable: fileVariable, value }
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    // The path is left out too: it may be the secret itself, put into the wrong variable.
    return fault(fileVariable, `must name a readable file (${reason})`)
  }
}

const fault = (variable: string, detail: string) => ({ fault: { variable, detail } })

// `FOO=` in an env file means "not set", as it does to most programs that read one.
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

function unknownVariables(environment: Environment): ConfigFault[] {
  const known = new Set<string>(
    Object.values<Setting>(settings).flatMap((setting) =>
      setting.secret ? [setting.env, `${setting.env}_FILE`] : [setting.env],
    ),
  )
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('YARD_') && !known.has(variable))
    .map((variable) => {
      const meant = nearestWord(variable, [...known])
      const hint = meant === undefined ? '; docs/configuration.md lists them all' : `; did you mean ${meant}?`
      return { variable, detail: `is not a setting of Toolyard${hint}` }
    })
}
