export type Path = readonly (string | number)[]

/** Where a value is: how many names lead to it, the last of them, and, for whoever needs it, all. */
export type Place = { depth: number; name: string | number | undefined; path: () => Path }

type Frame = { members: readonly unknown[]; names: readonly string[] | undefined; next: number }

/**
 * Visits a value and what is in it. A loop that remembers one place per level, because a stranger may nest a value
 * ten megabytes deep, or write a list of millions.
 */
export function walkJson(root: unknown, visit: (value: unknown, place: Place) => 'enter' | 'stop'): void {
  if (visit(root, { depth: 0, name: undefined, path: () => [] }) === 'stop') return
  const frames = framesOf(root)
  const path = () => frames.map(nameOf)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    frame.next += 1
    if (frame.next >= frame.members.length) {
      frames.pop()
      continue
    }
    const member = frame.members[frame.next]
    if (visit(member, { depth: frames.length, name: nameOf(frame), path }) === 'stop') return
    frames.push(...framesOf(member))
  }
}

function framesOf(value: unknown): Frame[] {
  if (Array.isArray(value)) return [{ members: value, names: undefined, next: -1 }]
  if (typeof value !== 'object' || value === null) return []
  return [{ members: Object.values(value), names: Object.keys(value), next: -1 }]
}

const nameOf = ({ names, next }: Frame) => names?.[next] ?? next
