// A Dockerfile as the engine reads it, as far as it takes to know which images it is made from.

/** `word` in upper case. */
export type Instruction = { word: string; rest: string }

export function readInstructions(dockerfile: string): Instruction[] {
  const lines = dockerfile.replace(/^\uFEFF/, '').split(/\r?\n/)
  const isContinued = readEscape(lines) === '`' ? /(?:^|[^`])`[ \t]*$/ : /(?:^|[^\\])\\[ \t]*$/
  const instructions: Instruction[] = []
  let pending: string[] = []
  const take = () => {
    const [, word, rest] = /^\s*(\S+)([^]*)$/.exec(pending.join('')) ?? []
    if (word !== undefined) instructions.push({ word: word.toUpperCase(), rest: (rest ?? '').trim() })
    pending = []
  }
  for (const line of lines) {
    // Also between the lines of one instruction, which goes on behind them.
    if (/^\s*(?:#|$)/.test(line)) continue
    const goesOn = isContinued.test(line)
    pending.push(goesOn ? line.trimEnd().slice(0, -1) : line)
    if (!goesOn) take()
  }
  take()
  return instructions
}

/** Directives stand before everything else, comments included. */
function readEscape(lines: readonly string[]): string {
  for (const line of lines) {
    const [, name, value] = /^\s*#\s*([A-Za-z]+)\s*=\s*(\S+)\s*$/.exec(line) ?? []
    if (name === undefined) break
    if (name.toLowerCase() === 'escape') return value ?? '\\'
  }
  return '\\'
}

/** The words of an instruction, without their quotes. */
export function splitWords(rest: string): string[] {
  const words = rest.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\]|["'\\])+/g) ?? []
  return words.map((word) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double ?? single ?? '',
    ),
  )
}

// Longer than any image's name; and arguments that double each other must not fill the memory.
const textMaxLength = 1_000

/** `$NAME`, `${NAME}`, `${NAME:-word}` and `${NAME:+word}`; what is unknown is empty. */
export function expandVariables(text: string, values: ReadonlyMap<string, string>): string {
  const variable = /\$(?:(\w+)|\{(\w+)(?::?([-+])([^}]*))?\})/g
  const replace = (_: string, ...groups: (string | undefined)[]) => {
    const [plain, braced, mark, word] = groups
    const value = values.get(plain ?? braced ?? '') ?? ''
    const other = (word ?? '').replace(/\$(\w+)/g, (__, name: string) => values.get(name) ?? '')
    if (mark === '-') return value === '' ? other : value
    if (mark === '+') return value === '' ? '' : other
    return value
  }
  return text.slice(0, textMaxLength).replace(variable, replace).slice(0, textMaxLength)
}
