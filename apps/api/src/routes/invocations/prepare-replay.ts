import type { CatalogView } from '@toolyard/catalog/create-catalog'
import type { Pool } from '@toolyard/db/pool'
import type { Submission } from '@toolyard/invocations/submission'
import { findManifest } from '../tools/find-manifest.ts'
import { fitCall } from './fit-call.ts'
import { refuseUnconfigured } from './refuse-unconfigured.ts'

/** What was given to an invocation, as it can be stored anew: the tool and its settings may have changed since. */
export async function prepareReplay(
  { view, pool }: { view: CatalogView; pool: Pool },
  given: Submission,
): Promise<Submission> {
  const { tool, params, telemetry } = given
  if (given.pinnedHash !== undefined) {
    // The version that took these params takes them again; what it lacks is judged by the one that serves.
    const { manifest, manifestHash: checkedHash } = findManifest(view, tool)
    await refuseUnconfigured(pool, tool, manifest)
    return { ...given, checkedHash }
  }
  const fitted = await fitCall({ view, pool }, { tool, ...byOrigin(params) })
  return { ...given, ...fitted, telemetry }
}

/** What the platform added is no caller's, and stays as it is. */
function byOrigin(params: Submission['params']) {
  const isPlatforms = ([name]: [string, unknown]) => name.startsWith('_')
  const entries = Object.entries(params)
  return {
    params: Object.fromEntries(entries.filter((entry) => !isPlatforms(entry))),
    platformParams: Object.fromEntries(entries.filter(isPlatforms)),
  }
}
