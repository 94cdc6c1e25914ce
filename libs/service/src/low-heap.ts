import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const growthPercent = 30

/**
 * Left alone, V8 lets a heap of 35 MiB in use grow to several times as much before it collects what has grown old: a
 * process takes 100 MiB more than it needs, and gives them back at once minutes later, so nobody can see a leak from
 * outside. This way it collects more often, of which no call becomes slower.
 */
export function slowHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}

/** Growth is counted from the last collection, so the first must not have been one of a process that was starting. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  setFlagsFromString('--no-expose-gc')
}
