import { addressOf } from '../database/database.ts'
import type { Installation } from '../installation/installation.ts'
import { apiUrl } from '../installation/installation.ts'
import type { SupervisorState } from './state.ts'

/** Where the settings ask for something else than what runs: one line each. Only a new start follows them. */
export function changedSettings(
  { config }: Pick<Installation, 'config'>,
  running: Pick<SupervisorState, 'url' | 'database' | 'engine' | 'queue'>,
): string[] {
  const { databaseUrl, redisUrl, dockerHost } = config
  const { url, database, engine, queue } = running
  const settings = [
    { name: 'YARD_HOST, YARD_PORT', asked: apiUrl(config), runs: url },
    {
      name: 'DATABASE_URL',
      asked: databaseUrl && addressOf(databaseUrl.reveal()),
      runs: database?.kind === 'named' ? database.address : undefined,
    },
    {
      name: 'REDIS_URL',
      asked: redisUrl && 'a Redis',
      runs: queue === 'redis' ? 'a Redis' : undefined,
    },
    {
      name: 'DOCKER_HOST',
      asked: dockerHost,
      runs: engine?.kind === 'named' ? engine.dockerHost : undefined,
    },
  ]
  return settings
    .filter(({ asked, runs }) => asked !== runs)
    .map(({ name, asked, runs }) => `${name}: ${asked ?? 'unset'}, where it runs with ${runs ?? 'none set'}`)
}
