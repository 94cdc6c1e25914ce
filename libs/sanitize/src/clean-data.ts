import { dataBytesMax } from '@toolyard/contract/tool-output'
import type { Json } from './json.ts'
import { mapJson } from './map-json.ts'
import { neutraliseMarkers } from './text/neutralise-markers.ts'
import { stripCharacters } from './text/strip-characters.ts'

export type CleanData = {
  /** Absent where it was too large. */
  data?: Json
  /** In words. */
  changes: string[]
}

const depthMax = 64

/**
 * Data for programs: the structure and the words stay, because it is never shown to the model. A key `__proto__` is
 * left out: whoever merges the answer into an object of his own would merge into its prototype.
 */
export function cleanData(dirty: Json): CleanData {
  const counts = { characters: 0, markers: 0, prototypes: 0 }
  const text = (written: string): string => {
    const stripped = stripCharacters(written)
    if (stripped !== written) counts.characters++
    const marked = neutraliseMarkers(stripped)
    counts.markers += marked.count
    return marked.text
  }
  const key = (written: string): string | undefined => {
    const cleaned = text(written)
    if (cleaned !== '__proto__') return cleaned
    counts.prototypes++
    return undefined
  }
  const data = mapJson(dirty, { text, key, depthMax, tooDeep: null })
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > dataBytesMax) return { changes: [`left out: ${bytes} bytes, more than ${dataBytesMax}`] }
  const changes = [
    counts.characters > 0 ? `unseen or broken characters in ${counts.characters} strings replaced` : '',
    counts.markers > 0 ? `${counts.markers} [TOOL] markers neutralised` : '',
    counts.prototypes > 0 ? `${counts.prototypes} keys __proto__ left out` : '',
    isDeeper(dirty, depthMax) ? `what was nested deeper than ${depthMax} left out` : '',
  ].filter((change) => change !== '')
  return { data, changes }
}

function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((one) => isDeeper(one, depth - 1))
}
