import { freePort } from '@toolyard/service/free-port'
import type { App } from './app.ts'
import { createApp } from './app.ts'

export type Staff = {
  urls: readonly string[]
  apis: readonly App[]
  workers: readonly App[]
  scheduler: App
  apps: readonly App[]
}

export type Hiring = {
  apis: number
  workers: number
  databaseUrl: string
  /** Called for each worker, in their order, with the database's URL: the one by which that worker reaches it. */
  reachDatabase?: ((databaseUrl: string) => Promise<string>) | undefined
  environment: Readonly<Record<string, string>>
  logs: string
  closing: AsyncDisposableStack
}

/** The processes of a house, none of which runs yet. */
export async function hireStaff({ databaseUrl, reachDatabase, closing, ...hiring }: Hiring): Promise<Staff> {
  const { environment, logs } = hiring
  const ports = await Promise.all(Array.from({ length: hiring.apis }, () => freePort()))
  const apis = ports.map((port, index) =>
    createApp({
      kind: 'api',
      name: `api-${index}`,
      logs,
      environment: { ...environment, DATABASE_URL: databaseUrl, YARD_PORT: String(port) },
    }),
  )
  const workers: App[] = []
  for (let index = 0; index < hiring.workers; index++) {
    const url = (await reachDatabase?.(databaseUrl)) ?? databaseUrl
    const own = { ...environment, DATABASE_URL: url }
    workers.push(createApp({ kind: 'worker', name: `worker-${index}`, logs, environment: own }))
  }
  const scheduler = createApp({
    kind: 'scheduler',
    name: 'scheduler',
    logs,
    environment: { ...environment, DATABASE_URL: databaseUrl },
  })
  const apps: readonly App[] = [...apis, ...workers, scheduler]
  closing.defer(async () => {
    const left = apps.filter((app) => app.isRunning())
    for (const app of left) app.signal('SIGKILL')
    await Promise.all(left.map((app) => app.ended()))
  })
  return { apis, workers, scheduler, apps, urls: ports.map((port) => `http://127.0.0.1:${port}`) }
}
