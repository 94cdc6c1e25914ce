import { apiSettings } from '@toolyard/config/apps'
import { runService } from '@toolyard/service/run-service'
import { startApi } from './start-api.ts'

await runService(
  // A caller who has waited this long for the database is better told to come again.
  { kind: 'api', settings: apiSettings, statementTimeoutMs: 5_000, start: startApi },
  process.env,
)
