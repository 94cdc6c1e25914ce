import type { JobSchedulerJson, Processor, WorkerOptions } from 'bullmq'
import type { StoredJob, jobOptions } from './stored-job.ts'

type RepeatRule = { every: number } | { pattern: string; tz: string }
type AlarmTemplate = { name: string; data: object; opts: typeof jobOptions & { priority: number } }

/** What is used of BullMQ's Queue: its own type differs by backend. */
export type RawQueue = {
  add(name: string, data: object, options: StoredJob['opts']): Promise<unknown>
  addBulk(jobs: StoredJob[]): Promise<unknown>
  getJobCounts(
    ...states: ('wait' | 'prioritized' | 'active' | 'delayed')[]
  ): Promise<{ [state: string]: number }>
  upsertJobScheduler(id: string, rule: RepeatRule, template: AlarmTemplate): Promise<unknown>
  removeJobScheduler(id: string): Promise<boolean>
  getJobSchedulers(start: number, end: number, ascending: boolean): Promise<JobSchedulerJson[]>
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

/** What is used of BullMQ's Worker. */
export type RawWorker = {
  run(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'failed', listener: (job: { id?: string | undefined } | undefined, error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(force?: boolean): Promise<void>
}

export type RawProcessor = Processor<object>
export type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>

/** All that differs between Redis and Postgres. */
export type Backend = {
  kind: 'redis' | 'postgres'
  /** From how many jobs on one addBulk costs less than an add of each. */
  bulkMin: number
  openQueue: (name: string) => RawQueue
  openWorker: (name: string, processor: RawProcessor, settings: WorkerSettings) => RawWorker
  /** Throws while the store cannot be reached or lacks the queue's schema. */
  ping: () => Promise<void>
  close: () => Promise<void>
}
