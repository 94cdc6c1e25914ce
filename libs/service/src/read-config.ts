import { processSettings } from '@toolyard/config/apps'
import type { Environment } from '@toolyard/config/load'
import { ConfigError, loadConfig } from '@toolyard/config/load'
import type { Secret } from '@toolyard/config/secret'
import type { Config, SettingName } from '@toolyard/config/settings'

type ProcessSetting = (typeof processSettings)[number]

/** What every process is told, and what this one asks for besides. The database is no longer a choice here. */
export type ServiceConfig<N extends SettingName> = Config<N | ProcessSetting> & {
  readonly databaseUrl: Secret
}

export function readConfig<N extends SettingName>(
  settings: readonly N[],
  environment: Environment,
): ServiceConfig<N> {
  const config = loadConfig<N | ProcessSetting>([...processSettings, ...settings], environment)
  if (hasDatabase(config)) return config
  throw new ConfigError([
    { variable: 'DATABASE_URL', detail: 'must be set for a process that ./yard did not start' },
  ])
}

function hasDatabase<N extends SettingName>(config: Config<N | ProcessSetting>): config is ServiceConfig<N> {
  const { databaseUrl }: Config<'databaseUrl'> = config
  return databaseUrl !== undefined
}
