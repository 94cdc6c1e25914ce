import { schedulerSettings } from '@toolyard/config/apps'
import { runService } from '@toolyard/service/run-service'
import { startScheduler } from './start-scheduler.ts'

await runService({ kind: 'scheduler', settings: schedulerSettings, start: startScheduler }, process.env)
