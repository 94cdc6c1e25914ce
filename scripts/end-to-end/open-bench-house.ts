import { awaitTools } from '../house/await-tools.ts'
import type { House, QueueKind } from '../house/open-house.ts'
import { openHouse } from '../house/open-house.ts'
import { writeWitnessTools } from '../house/write-witness-tools.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { unlessStopped } from '../services/terminal/unless-stopped.ts'
import { listenForStop } from '../yard/stop-signals.ts'
import type { CallClient } from './call-client.ts'
import { createCallClient } from './call-client.ts'
import { tools } from './tools.ts'

export type BenchHouse = { house: House; client: CallClient }
export type BenchHouseOptions = { queue: QueueKind; dockerHost: string; progress: Progress }

/** An installation as `./yard up` makes it, one process of each kind, on a Postgres that keeps its promises. */
export async function withBenchHouse<T>(
  options: BenchHouseOptions,
  work: (ground: BenchHouse) => Promise<T>,
): Promise<T> {
  const signals = listenForStop()
  const house = await openHouse({
    ...options,
    workers: 1,
    apis: 1,
    postgresSettings: ['max_connections=200'],
    environment: { YARD_LOG_LEVEL: 'warn' },
  })
  const client = createCallClient(house.urls[0] ?? '', house.token)
  try {
    const all = Object.values(tools)
    // They tell nobody anything, so there is nobody at the port.
    await writeWitnessTools(house.toolFolder, 1, all)
    await options.progress.step('Starting its processes', () => house.start())
    await options.progress.step('Building its tools', () =>
      awaitTools(
        house,
        all.map(({ name }) => name),
      ),
    )
    return await unlessStopped(signals.stop, work({ house, client }))
  } finally {
    signals.dispose()
    client.close()
    await house.close({ keepLogs: false })
  }
}
