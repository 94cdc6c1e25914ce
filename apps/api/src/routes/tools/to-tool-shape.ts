import type { CatalogTool } from '@toolyard/catalog/read-catalog'
import type { Manifest } from '@toolyard/contract/manifest'
import type { ToolShape, ToolStatus } from '@toolyard/contract/tools'

export type ShapeRules = {
  /** Whether the operator lets a tool that asks for it write to its root file system. */
  allowWritable: boolean
}

/** A tool as callers see it. One that has no manifest yet has the same members, so that every loop meets it. */
export function toToolShape(tool: CatalogTool, status: ToolStatus, rules: ShapeRules): ToolShape {
  const { manifest } = tool
  const known = {
    name: tool.name,
    status,
    enabled: tool.enabled && manifest !== undefined,
    image: { state: tool.image.state, hash: tool.wantedHash, error: tool.image.error },
  }
  if (manifest === undefined) return { ...known, ...nothingKnown }
  return {
    ...known,
    description: manifest.description,
    version: manifest.version,
    category: manifest.category ?? null,
    icon: manifest.icon ?? null,
    ...(manifest.documentation === undefined ? {} : { documentation: manifest.documentation }),
    trigger: toTrigger(manifest),
    ...(tool.servingHash === null ? {} : { serving: { version: manifest.version, hash: tool.servingHash } }),
    parameters: manifest.parameters,
    config_schema: manifest.config_schema,
    returns: manifest.returns,
    examples: manifest.examples,
    sandbox: {
      memory: manifest.sandbox.memory,
      cpus: manifest.sandbox.cpus,
      network: manifest.sandbox.network,
      writable: manifest.sandbox.writable && rules.allowWritable,
      reuse: manifest.sandbox.reuse,
    },
    warnings: warningsOf(tool, manifest, rules),
  }
}

const nothingKnown = {
  description: '',
  version: '',
  category: null,
  icon: null,
  trigger: { type: 'on_demand' },
  parameters: {},
  config_schema: {},
  warnings: [],
} satisfies Partial<ToolShape>

export function toTrigger({ trigger }: Manifest): ToolShape['trigger'] {
  if (trigger.type === 'cron') return { type: 'cron', schedule: trigger.schedule, timezone: trigger.timezone }
  if (trigger.type === 'webhook') return { type: 'webhook', auth: trigger.auth }
  return { type: 'on_demand' }
}

function warningsOf(tool: CatalogTool, { sandbox }: Manifest, { allowWritable }: ShapeRules): string[] {
  const warnings = [...tool.warnings]
  if (sandbox.writable && !allowWritable)
    warnings.push('the root file system stays read-only: YARD_ALLOW_WRITABLE is off; /tmp can be written to')
  return warnings
}
