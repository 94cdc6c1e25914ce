// What a character looks like, as a lower-case ASCII code: a model reads `［ＴＯＯＬ：x］` as `[TOOL:x]`.

const otherChar = 0
/** Matching passes over it: joiners, combining marks, the second half of a surrogate pair whose first was folded. */
export const filler = 1

const nameOf = new Uint8Array(0x10000)
for (let code = 9; code < 0x7f; code++) nameOf[code] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code
for (let code = 0x21; code < 0x7f; code++) nameOf[0xfee0 + code] = nameOf[code] ?? 0
for (let letter = 0; letter < 52; letter++) nameOf[0x24b6 + letter] = 0x61 + (letter % 26)
for (const blank of '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000')
  nameOf[blank.charCodeAt(0)] = 0x20
for (const bracket of '【〔⟦〚') nameOf[bracket.charCodeAt(0)] = 0x5b
for (const bracket of '】〕⟧〛') nameOf[bracket.charCodeAt(0)] = 0x5d
for (const colon of '\u02d0\ua789\u2236\ufe13\ufe55') nameOf[colon.charCodeAt(0)] = 0x3a
for (const slash of '\u2044\u2215') nameOf[slash.charCodeAt(0)] = 0x2f
for (const passed of '\u200c\u200d\ufe0e\ufe0f') nameOf[passed.charCodeAt(0)] = filler
for (let mark = 0x300; mark < 0x370; mark++) nameOf[mark] = filler
// Braces open a group only as themselves; in their wide form they are ordinary punctuation.
nameOf[0xff5b] = otherChar
nameOf[0xff5d] = otherChar

// U+1D400..U+1D6A3: the mathematical alphabets, 52 letters each.
const mathLetters = 0x1d400
const mathLettersEnd = 0x1d6a4

export function foldText(text: string): Uint8Array {
  const folded = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    folded[at] = nameOf[code] ?? 0
    if (code !== 0xd835) continue
    const point = text.codePointAt(at) ?? 0
    if (point < mathLetters || point >= mathLettersEnd) continue
    folded[at] = 0x61 + (((point - mathLetters) % 52) % 26)
    folded[++at] = filler
  }
  return folded
}

export const isBlank = (code: number | undefined) => code === 0x20 || code === 0x09 || code === filler

export const isBlankOrBreak = (code: number | undefined) => isBlank(code) || code === 0x0a

export const isWordChar = (code: number | undefined) =>
  code !== undefined && ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f)

/**
 * Whether a word goes on here to its right. Only plain letters, digits and `_` count: the host that would act on what
 * follows finds the start of a word by its own rules, and to some of them `é` and `Ⓜ` are no letters.
 */
export const isWordBefore = (text: string, at: number) => at > 0 && /\w/.test(text[at - 1] ?? '')
