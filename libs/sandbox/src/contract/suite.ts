import { testEnding } from './ending.ts'
import { testLoss } from './loss.ts'
import type { MakeRig } from './rig.ts'
import { testRunning } from './running.ts'
import { testStocking } from './stocking.ts'

/** What callers may rely on whatever runs the sandboxes. */
export function testContract(makeRig: MakeRig): void {
  testRunning(makeRig)
  testEnding(makeRig)
  testLoss(makeRig)
  testStocking(makeRig)
}
