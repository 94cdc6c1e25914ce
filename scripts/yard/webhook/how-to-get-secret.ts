import { apiUrl, openInstallation } from '../../services/installation/installation.ts'
import { neededSettings } from './needed-settings.ts'

/** For whoever listens without one: nothing can be verified then. */
export function howToGetSecret(port: number): string[] {
  const { config, paths } = openInstallation()
  const body = { url: `http://127.0.0.1:${port}/`, events: ['invocation.finished'] }
  const key = `"Authorization: Bearer $(cat ${inShell(paths.adminKey)})"`
  const json = "'content-type: application/json'"
  return [
    'There is no secret, so nothing can be verified. This command makes a webhook and shows its secret:',
    `  curl ${apiUrl(config)}/webhooks -H ${key} -H ${json} -d '${JSON.stringify(body)}'`,
    `Then listen with --port ${port} --secret SECRET. Or let --port ${port} --register do both.`,
    'Toolyard sends to this machine only if it was started with these settings:',
    ...neededSettings(port).map((line) => `  ${line}`),
  ]
}

const inShell = (path: string) => `'${path.replaceAll("'", String.raw`'\''`)}'`
