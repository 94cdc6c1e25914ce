import { analyze } from './analyze.ts'
import { splitWords } from './split-words.ts'

/** What is known of a tool by its own words. */
export type ToolText = {
  name: string
  description: string
  parameters: readonly { name: string; description?: string }[]
  /** Things people ask it for. */
  examples: readonly string[]
}

const passageCharsMax = 1_500

/** What the embedder is given: the description alone, and with name and parameters. Descriptions of parameters blur it. */
export function toolPassages(tool: ToolText): string[] {
  const parameters = tool.parameters.map(({ name }) => splitWords(name)).join(', ')
  const whole = `${splitWords(tool.name)}: ${tool.description}${parameters === '' ? '' : ` Parameters: ${parameters}`}`
  return [tool.description, whole, ...tool.examples.slice(0, 8)].map((text) => text.slice(0, passageCharsMax))
}

export type LexicalText = {
  terms: readonly string[]
  nameTerms: readonly string[]
  pairs: readonly string[]
}

/** What the lexical index is given: everything. */
export function lexicalText(tool: ToolText): LexicalText {
  const name = analyze(tool.name)
  const description = analyze(tool.description)
  const parameters = tool.parameters.flatMap((one) => [
    ...analyze(one.name),
    ...analyze(one.description ?? ''),
  ])
  const examples = tool.examples.map((example) => analyze(example))
  return {
    terms: [...name, ...description, ...parameters, ...examples.flat()],
    nameTerms: [...new Set(name)],
    pairs: [name, description, ...examples].flatMap(pairsOf),
  }
}

/** Neighbours among the terms. */
export const pairsOf = (terms: readonly string[]): string[] =>
  terms.slice(1).map((term, i) => `${terms[i]} ${term}`)
