import { testkit } from './architecture-table.ts'
import type { Fault } from './fault.ts'

export type Edge = { from: string; to: string; path: string; line: number }

/**
 * One fault for each pair of packages whose import lies on a circle, at the first place that imports so.
 * Testkit is left out: it imports the libs whose tests import it, and no running service loads it.
 */
export function packageCycles(edges: readonly Edge[]): Fault[] {
  const first = new Map<string, Edge>()
  for (const edge of edges) {
    if (edge.from === edge.to || edge.from === testkit || edge.to === testkit) continue
    const key = `${edge.from} → ${edge.to}`
    if (!first.has(key)) first.set(key, edge)
  }
  const pairs = [...first.values()]
  return pairs.flatMap((edge) => {
    const back = shortestPath(edge.to, edge.from, pairs)
    if (back === undefined) return []
    const circle = [edge.from, ...back].join(' → ')
    return [
      {
        path: edge.path,
        line: edge.line,
        rule: 'cycle',
        message: `${circle}: move what both need into a lib below them`,
      },
    ]
  })
}

function shortestPath(start: string, goal: string, edges: readonly Edge[]): string[] | undefined {
  const seen = new Set([start])
  const queue = [[start]]
  for (const path of queue) {
    const last = path.at(-1)
    if (last === goal) return path
    for (const edge of edges) {
      if (edge.from !== last || seen.has(edge.to)) continue
      seen.add(edge.to)
      queue.push([...path, edge.to])
    }
  }
  return undefined
}
