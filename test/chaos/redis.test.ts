import { test } from 'node:test'
import { surviveChaos } from './fixtures/survive-chaos.ts'

test('150 calls on Redis survive killed, stopped and cut off processes and restarted services with every promise kept', (t) =>
  surviveChaos(t, { queue: 'redis', seed: 18 }))
