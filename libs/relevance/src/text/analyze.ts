import { porterStem } from './porter-stem.ts'
import { splitWords } from './split-words.ts'
import { stopWords } from './stop-words.ts'

/** A text longer than this is cut: nobody describes what he wants in more, and every search pays for it. */
export const textCharsMax = 4_000

const termCharsMax = 40

/** The terms of a text as the lexical index knows them, in their order, repeated as often as they stand there. */
export function analyze(text: string): string[] {
  const words = plainLetters(splitWords(text.slice(0, textCharsMax)))
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu)
  return (words ?? []).filter((word) => !stopWords.has(word) && word.length <= termCharsMax).map(porterStem)
}

/** Without the accents of Latin, Greek and Cyrillic letters, which people leave out; other scripts keep their marks. */
const plainLetters = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
