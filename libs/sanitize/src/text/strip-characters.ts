// Characters that a reader does not see and a program or a model may obey: controls, bidirectional overrides,
// zero-width and tag characters, and the rest of what Unicode calls ignorable.

const suspect = /[^\n\t\x20-\x7e\u00a1-\u00ac\u00ae-\u024f]/
// The colours of terminals: without the escape alone, `[31m` would stay behind.
// oxlint-disable-next-line no-control-regex -- controls are what is looked for
const terminalSequence = /(?:\x1b\[|\x9b)[0-9;?]{0,32}[A-Za-z]/g
const lineBreak = /\r\n?|[\v\f\x85\u2028\u2029]/g
const unseen =
  /(?![\t-\r]|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\p{Noncharacter_Code_Point}]/gu

const joinersAndSelectors = /(?:\u200c|\u200d|\ufe0e|\ufe0f)+/g
const joiners = '\u200c\u200d'
const selectors = '\ufe0e\ufe0f'
// Emoji, and letters of scripts that are written with joiners. Not Latin, in no form: names and markers are Latin.
const joinable =
  /^(?:[[\p{Extended_Pictographic}\p{Emoji_Modifier}]--\p{ASCII}]|[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Default_Ignorable_Code_Point}]])$/v
const keycap = /^[0-9#*]$/

/**
 * Line breaks become `\n`, lone surrogates U+FFFD. A joiner stays between two emoji, or inside a word of a script that
 * is written with them; a variation selector stays behind the emoji or letter that it selects.
 */
export function stripCharacters(text: string): string {
  if (!suspect.test(text)) return text
  return text
    .toWellFormed()
    .replace(terminalSequence, '')
    .replace(lineBreak, '\n')
    .replace(unseen, '')
    .replace(joinersAndSelectors, keepJoining)
}

function keepJoining(run: string, at: number, whole: string): string {
  const before = codePointBefore(whole, at)
  const after = String.fromCodePoint(whole.codePointAt(at + run.length) ?? 0)
  const first = run[0] ?? ''
  const selects = selectors.includes(first) && (joinable.test(before) || keycap.test(before))
  const selector = selects ? first : ''
  const rest = run.slice(selector.length)
  const joins = rest.length === 1 && joiners.includes(rest) && joinable.test(before) && joinable.test(after)
  return selector + (joins ? rest : '')
}

function codePointBefore(text: string, at: number): string {
  const isPair = at > 1 && /[\udc00-\udfff]/.test(text[at - 1] ?? '')
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at)
}
