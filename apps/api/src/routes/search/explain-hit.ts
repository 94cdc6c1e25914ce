import type { Explanation } from '@toolyard/contract/search'
import type { Standings } from '@toolyard/memory/rank'
import { standingOf } from '@toolyard/memory/rank'
import { fitsMin } from '@toolyard/relevance/calibrate'
import type { SearchAnswer } from '@toolyard/relevance/create-tool-search'

export type RankedTool = SearchAnswer['tools'][number]

/** Every number that `final` is made of. */
export function explainHit(hit: RankedTool, standings: Standings, topic: string): Explanation {
  const { tool, score, semantic, lexical, learned, correction, penalty, exploration } = hit
  return {
    score,
    semantic,
    lexical,
    learned,
    correction,
    penalty,
    memory: explainMemory(tool, standings, topic),
    exploration,
  }
}

function explainMemory(tool: string, standings: Standings, topic: string): Explanation['memory'] {
  const standing = standingOf(tool, standings)
  const { meanWeight, inTopic } = standings
  if (standing === undefined || meanWeight === null) return null
  const { weight, recent, attempts } = standing
  return {
    topic: inTopic.has(tool) ? topic : null,
    weight,
    mean_weight: meanWeight,
    // Of whom no attempts are told nothing but the weight is.
    ...(attempts === undefined ? {} : { recent, attempts }),
  }
}

/** What moves a tool by less than this is not worth a word. */
const noticed = 0.05

/** Why it stands where it does, in a few words. */
export function reasonOf(hit: RankedTool, standings: Standings, topic: string): string {
  const { relevance, semantic, lexical, learned, correction, penalty, memory, tool } = hit
  const isInTopic = standings.inTopic.has(tool)
  const where = isInTopic ? (topic.startsWith('key:') ? ' for this key' : ' in this topic') : ''
  const parts = [
    relevance < fitsMin ? 'hardly fits' : 'fits',
    semantic <= 0 && lexical <= 0
      ? learned > 0
        ? 'by what calls have taught'
        : 'none of its words'
      : semantic > lexical
        ? 'mostly by its meaning'
        : 'mostly by its words',
    ...(learned - correction > noticed ? ['calls for queries like this went well'] : []),
    ...(penalty > noticed ? ['calls for queries like this went badly'] : []),
    standingOf(tool, standings) === undefined
      ? 'no outcomes yet'
      : memory > 1 + noticed
        ? `does better than most${where}`
        : memory < 1 - noticed
          ? `does worse than most${where}`
          : `does as well as most${where}`,
  ]
  return parts.join(', ')
}
