export class Refusal extends Error {}

const patternMax = 1_000

/** The regular expression that the parameters ask for. */
export function compile({ pattern, literal = false, ignore_case = false, dot_all = false, text }) {
  if (pattern === '') throw new Refusal('The pattern is empty.')
  if (pattern.length > patternMax) throw new Refusal(`The pattern has more than ${patternMax} characters.`)
  const source = literal ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : pattern
  const flags = `gm${ignore_case ? 'i' : ''}${dot_all ? 's' : ''}`
  // Unicode's strict syntax refuses much that people write, as \-, and rules out the linear engine: only where it matters.
  const isUnicode = !literal && (/\\[pPu]\{/.test(source) || /[\ud800-\udfff]/.test(source + text))
  try {
    return new RegExp(source, isUnicode ? `${flags}u` : flags)
  } catch (error) {
    throw new Refusal(`The pattern is no regular expression of JavaScript: ${error.message}`)
  }
}
