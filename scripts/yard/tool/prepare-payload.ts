import { coerceParams } from '@toolyard/contract/coerce-params'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { TooLarge } from '@toolyard/contract/payload'
import { checkPart, encodePayload } from '@toolyard/contract/payload'
import { fillTelemetry } from '@toolyard/contract/telemetry'

export type Given = { params?: Record<string, Json>; settings: Record<string, Json>; time: string }

export type Prepared =
  | { kind: 'prepared'; params: Record<string, Json>; payload: string; secrets: string[]; missing: string[] }
  | { kind: 'refused'; faults: string[] }

/** What a call of a tool hands it, with the params of its first example where none are given. */
export function preparePayload(manifest: Manifest, { params: given, settings, time }: Given): Prepared {
  const { parameters, examples, config_schema: schema, input } = manifest
  const coerced = coerceParams(parameters, given ?? examples[0]?.params ?? {})
  const faults =
    'faults' in coerced ? coerced.faults.map(({ pointer, detail }) => `${pointer} ${detail}`) : []
  if (given === undefined && examples.length === 0 && faults.length > 0)
    faults.push('there is no example whose params could be taken: give --params')
  const unknown = Object.keys(settings).filter((key) => !Object.hasOwn(schema, key))
  faults.push(...unknown.map((key) => `/settings/${key} is not in config_schema`))
  if ('faults' in coerced || faults.length > 0) return { kind: 'refused', faults }

  const { params } = coerced
  const full = { ...defaultsOf(schema), ...settings }
  const telemetry = fillTelemetry({ time })
  const encoded = encodePayload({ params, settings: full, telemetry }, input)
  const tooLarge = [checkPart('params', params, input), checkPart('settings', full, input)].flatMap(
    (each) => each ?? [],
  )
  if (tooLarge.length > 0 || 'kind' in encoded)
    return {
      kind: 'refused',
      faults: [...tooLarge, ...('kind' in encoded ? [encoded] : [])].map(describeSize),
    }
  const required = Object.keys(schema).filter((key) => schema[key]?.required && !Object.hasOwn(full, key))
  const secrets = Object.keys(schema).filter((key) => schema[key]?.secret && Object.hasOwn(settings, key))
  return {
    kind: 'prepared',
    params,
    payload: encoded.payload,
    secrets: secrets.map((key) => textOf(settings[key] ?? null)),
    missing: required,
  }
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

const defaultsOf = (schema: Manifest['config_schema']): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([key, setting]) =>
      setting.default === undefined ? [] : [[key, setting.default]],
    ),
  )

const describeSize = ({ part, bytes, bytesMax }: TooLarge) =>
  `${part === 'payload' ? 'the payload' : `/${part}`} has ${bytes} bytes of at most ${bytesMax}`
