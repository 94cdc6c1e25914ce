import type { BaseIndex } from './base-index.ts'
import { createBaseIndex } from './base-index.ts'

/**
 * Some tools of an index as if there were no others: neither how rare a word is, nor the mean of their vectors, nor what was
 * learned, tells whoever may know of these alone anything of the rest. `refresh` takes over what has changed.
 */
export function createPartIndex(whole: BaseIndex, names: readonly string[]) {
  const part = createBaseIndex(whole.dimensions)
  const taken = new Map<string, number>()
  let seen = Number.NaN

  const takeOver = (name: string): void => {
    const tool = whole.toolOf(name)
    if (tool?.changed === taken.get(name)) return
    if (tool === undefined) {
      part.removeTool(name)
      taken.delete(name)
    } else {
      part.takeTool(name, tool)
      taken.set(name, tool.changed)
    }
  }

  return {
    base: part,
    refresh(): void {
      if (whole.generation() === seen) return
      const mean = whole.referenceMean()
      if (mean !== null && mean !== part.referenceMean()) part.setReferenceMean(mean)
      for (const name of names) takeOver(name)
      seen = whole.generation()
    },
  }
}
