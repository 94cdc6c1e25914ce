import { testAdding } from './adding.ts'
import { testAlarms } from './alarms.ts'
import { testHandling } from './handling.ts'
import { testLoss } from './loss.ts'
import { testStopping } from './stopping.ts'
import type { MakeStore } from './store.ts'

/** What callers may rely on whichever backend they are given. */
export function testContract(makeStore: MakeStore): void {
  testAdding(makeStore)
  testHandling(makeStore)
  testStopping(makeStore)
  testLoss(makeStore)
  testAlarms(makeStore)
}
