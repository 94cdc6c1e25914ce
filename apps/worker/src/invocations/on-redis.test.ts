import { testOnQueue } from './on-each-queue-suite.ts'

await testOnQueue('redis')
