import type { Installation } from '../installation/installation.ts'
import type { SupervisorState } from './state.ts'

/** What a person needs to go on with, once everything runs. The key itself is never part of it. */
export function summaryOf(installation: Installation, state: SupervisorState): string {
  const { adminKey } = installation.paths
  const hasKey = state.adminKey === 'in-file'
  const lines = [
    `Toolyard is ready at ${state.url}`,
    `  documentation  ${state.url}/docs`,
    `  data           ${installation.dataDir}`,
    `  database       ${describeDatabase(state)}`,
    `  engine         ${describeEngine(state)}`,
    hasKey
      ? `  admin key      in ${adminKey}`
      : '  admin key      none here that works: make one with ./yard key create --name NAME --scope all',
    '',
    'Try it:',
    hasKey
      ? `  curl -H "Authorization: Bearer $(cat ${shellQuote(adminKey)})" ${state.url}/tools`
      : `  curl ${state.url}/readyz`,
  ]
  return lines.join('\n')
}

export function describeDatabase({ database }: SupervisorState): string {
  if (database === undefined) return 'not started yet'
  const { kind, address, folder } = database
  return kind === 'own'
    ? `Postgres of our own at ${address}, data in ${folder ?? 'an unknown place'}`
    : address
}

export function describeEngine({ engine }: SupervisorState): string {
  if (engine === undefined) return 'not started yet'
  const words = { own: 'our own', machine: "the machine's", named: 'named by DOCKER_HOST' }
  return `${engine.dockerHost} (${words[engine.kind]})`
}

export function describeNetwork({ network }: SupervisorState): { state: string; detail: string } {
  if (network === undefined) return { state: 'not set up', detail: '' }
  const { name, egressFilter, reason, warning } = network
  return { state: `filter ${egressFilter}`, detail: [name, reason, warning].filter(Boolean).join(', ') }
}

/** Safe to paste into a shell, and unchanged where nothing needs quoting. */
const shellQuote = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
