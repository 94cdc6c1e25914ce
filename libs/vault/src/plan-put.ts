import { configUnknownKeys } from '@toolyard/contract/config-messages'
import type { Fault } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import { checkPart } from '@toolyard/contract/payload'
import { mask } from './masked-settings.ts'
import type { Scalar } from './setting.ts'
import { isScalar } from './setting.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { effectiveSettings, isSecret } from './settings-schema.ts'

const faulty = 'Some settings have no usable value'

// What is echoed of a body is bounded.
const namedMax = 20
const nameLengthMax = 64

export type GivenSettings = Readonly<Record<string, unknown>>

/** What stands in the database, as far as a PUT must know it. */
export type StoredKey = { key: string; secret: boolean }

/** Refuses what no PUT may hold. The words for unknown keys are those that callers of the known shape look for. */
export function checkGiven(
  schema: SettingsSchema,
  given: GivenSettings,
): asserts given is Readonly<Record<string, Scalar>> {
  const keys = Object.keys(given)
  if (keys.length === 0) throw new AppError('invalid_config', 'The body must name at least one setting')
  const unknown = keys.filter((key) => !Object.hasOwn(schema, key))
  if (unknown.length > 0) throw new AppError('invalid_config', configUnknownKeys(namesToShow(unknown)))
  const faults = keys
    .filter((key) => !isScalar(given[key]))
    .map((key) => fault(key, 'must be a string, a finite number or a boolean'))
  if (faults.length > 0) throw new AppError('invalid_config', faulty, { faults })
}

/** Parts what is to be stored from what `***` keeps as it is. */
export function planPut(
  schema: SettingsSchema,
  stored: readonly StoredKey[],
  given: Readonly<Record<string, Scalar>>,
): { changes: Map<string, Scalar>; kept: string[] } {
  const changes = new Map<string, Scalar>()
  const kept: string[] = []
  const faults: Fault[] = []
  for (const [key, value] of Object.entries(given)) {
    const before = stored.find((one) => one.key === key)
    const masked = value === mask && isSecret(schema, before ?? { key, secret: false })
    if (!masked) changes.set(key, value)
    else if (before !== undefined) kept.push(key)
    else
      faults.push(
        fault(key, `"${mask}" keeps the secret that is stored, and none is: give the secret itself`),
      )
  }
  if (faults.length > 0) throw new AppError('invalid_config', faulty, { faults })
  return { changes, kept }
}

/** Refuses settings that would not fit beside the other parts of one argument. */
export function checkSize(schema: SettingsSchema, stored: ReadonlyMap<string, Scalar>): void {
  const tooLarge = checkPart('settings', effectiveSettings(schema, stored), 'argument')
  if (tooLarge === undefined) return
  throw new AppError(
    'payload_too_large',
    `The settings would take ${tooLarge.bytes} bytes of JSON, defaults included: at most ${tooLarge.bytesMax} are possible`,
  )
}

const fault = (key: string, detail: string): Fault => ({ pointer: `/${key}`, detail })

function namesToShow(keys: string[]): string[] {
  return keys
    .toSorted()
    .slice(0, namedMax)
    .map((key) => key.slice(0, nameLengthMax).replaceAll(/[^\w.-]/g, '?'))
}
