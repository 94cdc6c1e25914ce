import { RE2JS } from 're2js'

// Callers' texts meet the patterns of manifests, so they run on an engine whose time grows with the text alone. What
// it takes for a letter grows with the pattern: 5 µs at worst where the pattern has 200 steps.
const stepsMax = 1_000

// Lives as long as the manifest that it belongs to.
const compiled = new WeakMap<object, RE2JS>()

/** Why a pattern cannot be used. */
export function patternFault(pattern: string): string | undefined {
  try {
    const steps = RE2JS.compile(pattern).programSize()
    return steps > stepsMax ? `is too large a pattern: ${steps} steps of ${stepsMax}` : undefined
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unreadable'
    return `must be a pattern of RE2, which has no look-around and no back-references: ${reason}`
  }
}

/** Whether the declared pattern is found anywhere in the text, as in JSON Schema. */
export function matchesPattern(declared: { pattern?: string | undefined }, text: string): boolean {
  if (declared.pattern === undefined) return true
  const pattern = compiled.get(declared) ?? RE2JS.compile(declared.pattern)
  compiled.set(declared, pattern)
  return pattern.test(text)
}
