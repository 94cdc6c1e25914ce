import type { Fault } from './errors.ts'
import { orderFaults, toPointer } from './faults.ts'
import { describeIssue } from './describe-issue.ts'
import { jsonFaults } from './json-faults.ts'
import type { Manifest } from './manifest.ts'
import { manifest } from './manifest.ts'
import { manifestRules } from './manifest-rules.ts'

// What passes can be walked by schemas that call themselves.
const limits = { depthMax: 32, sizeMax: 256 * 1024 }

export type ParsedManifest = { manifest: Manifest } | { faults: Fault[] }

/** The manifest with every default filled in, or everything that is wrong with it at once. */
export function parseManifest(value: unknown): ParsedManifest {
  const unreadable = jsonFaults(value, limits)
  if (unreadable.length > 0) return { faults: orderFaults(unreadable) }
  const parsed = manifest.safeParse(value, { error: describeIssue })
  const shapeFaults = (parsed.error?.issues ?? []).map(({ path, message }) => ({
    pointer: toPointer(path),
    detail: message,
  }))
  const faults = [...shapeFaults, ...manifestRules(value)]
  return parsed.success && faults.length === 0 ? { manifest: parsed.data } : { faults: orderFaults(faults) }
}
