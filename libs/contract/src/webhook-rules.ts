import type { Fault } from './errors.ts'
import { toPointer } from './faults.ts'
import { setting } from './manifest.ts'
import { parameter } from './parameters.ts'
import { hookSecretNames } from './webhook-trigger.ts'

type Members = [name: string, declared: unknown][]

const secretNeeded =
  'must have "webhook_secret" with "secret": true: it proves who sends, and without it every message is refused'
const secretOnly = 'must be true: whoever can read it can send in the name of the sender'
const paramsNone = 'must be false, or have a default beside it: a webhook brings no params but "_webhook"'

/** What a webhook tool must declare beside its trigger to be callable at all. */
export function webhookRules({ settings, parameters }: { settings: Members; parameters: Members }): Fault[] {
  const [needed] = hookSecretNames
  const faults: Fault[] = []
  if (!settings.some(([name]) => name === needed)) {
    faults.push({ pointer: '/config_schema', detail: secretNeeded })
  }
  for (const [name, declared] of settings) {
    const parsed = setting.safeParse(declared)
    if (!isHookSecret(name) || !parsed.success || parsed.data.secret) continue
    faults.push({ pointer: toPointer(['config_schema', name, 'secret']), detail: secretOnly })
  }
  for (const [name, declared] of parameters) {
    const parsed = parameter.safeParse(declared)
    if (!parsed.success || !parsed.data.required || (parsed.data.default ?? null) !== null) continue
    faults.push({ pointer: toPointer(['parameters', name, 'required']), detail: paramsNone })
  }
  return faults
}

const isHookSecret = (name: string) => hookSecretNames.some((known) => known === name)
