import { apiSettings } from '@toolyard/config/apps'
import { runService } from '@toolyard/service/run-service'
import { startApi } from './start-api.ts'

await runService({ kind: 'api', settings: apiSettings, start: startApi }, process.env)
