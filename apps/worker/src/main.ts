import { workerSettings } from '@toolyard/config/apps'
import { runService } from '@toolyard/service/run-service'
import { startWorker } from './start-worker.ts'

await runService({ kind: 'worker', settings: workerSettings, start: startWorker }, process.env)
