const units: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

/** What a manifest writes as memory, such as 256m, in bytes. */
export function memoryBytes(memory: string): number {
  return Number.parseInt(memory, 10) * (units[memory.slice(-1).toLowerCase()] ?? 1)
}
