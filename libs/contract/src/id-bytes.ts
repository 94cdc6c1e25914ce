import { randomFillSync } from 'node:crypto'

const store = Buffer.alloc(4_096)
let used = store.length

/**
 * Random bytes for ids, of which a call makes four: fetched many at a time, because it is the asking that costs. They
 * stay in memory for a while, so nothing that must be kept secret is made of them. Use them before you ask for others:
 * they are a view.
 */
export function idBytes(count: number): Buffer {
  if (used + count > store.length) {
    randomFillSync(store)
    used = 0
  }
  used += count
  return store.subarray(used - count, used)
}
