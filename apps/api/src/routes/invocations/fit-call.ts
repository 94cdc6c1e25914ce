import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { coerceParams } from '@toolyard/contract/coerce-params'
import { AppError } from '@toolyard/contract/errors'
import type { InvokeBody } from '@toolyard/contract/invocations'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { PayloadPart } from '@toolyard/contract/payload'
import { checkPart } from '@toolyard/contract/payload'
import { fillTelemetry } from '@toolyard/contract/telemetry'
import type { Pool } from '@toolyard/db/pool'
import type { Submission } from '@toolyard/invocations/submission'
import { findManifest } from '../tools/find-manifest.ts'
import { refuseUnconfigured } from './refuse-unconfigured.ts'

export type GivenCall = {
  tool: string
  params: InvokeBody['params']
  telemetry?: InvokeBody['telemetry']
  /** Params of the platform, whose names begin with "_": no caller gives them, and no manifest declares them. */
  platformParams?: Readonly<Record<string, Json>>
}

type FittedCall = Pick<Submission, 'tool' | 'params' | 'telemetry' | 'checkedHash'>

/** What was given for a call as the tool takes it, or the refusal of what could not run. */
export async function fitCall(
  { view, pool }: { view: CatalogView; pool: Pool },
  { tool, params: given, telemetry: told, platformParams = {} }: GivenCall,
): Promise<FittedCall> {
  const { manifest, manifestHash: checkedHash } = findManifest(view, tool)
  await refuseUnconfigured(pool, tool, manifest)
  const params = { ...toParams(manifest, given), ...platformParams }
  const telemetry = fillTelemetry(told)
  const { _state: state, ...counted } = params
  refuseTooLarge('params', counted, manifest)
  if (state !== undefined) refuseTooLarge('_state', state, manifest)
  refuseTooLarge('telemetry', telemetry, manifest)
  return { tool, params, telemetry, checkedHash }
}

function toParams(manifest: Manifest, given: InvokeBody['params']): Record<string, Json> {
  const coerced = coerceParams(manifest.parameters, given)
  if ('params' in coerced) return coerced.params
  throw new AppError('invalid_params', 'The params do not fit the tool', { faults: coerced.faults })
}

function refuseTooLarge(part: PayloadPart, value: Json, { input }: Manifest): void {
  const fault = checkPart(part, value, input)
  if (fault === undefined) return
  const detail = `${part} has ${fault.bytes} bytes of JSON, more than ${fault.bytesMax}`
  const pointer = part === '_state' ? '/params/_state' : `/${part}`
  throw new AppError('payload_too_large', detail, { faults: [{ pointer, detail }] })
}
