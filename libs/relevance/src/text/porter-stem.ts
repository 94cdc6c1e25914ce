// The stemmer of M. F. Porter, "An algorithm for suffix stripping" (1980), in its published form: what a word's
// endings hide is cut off, so that "generating", "generates" and "generated" are one word to the lexical index.

const consonant = '[^aeiou]'
const vowel = '[aeiouy]'
const consonants = `${consonant}[^aeiouy]*`
const vowels = `${vowel}[aeiou]*`

// m counts the vowel-consonant sequences of a stem.
const measuredOnce = new RegExp(`^(?:${consonants})?${vowels}${consonants}`)
const measuredExactlyOnce = new RegExp(`^(?:${consonants})?${vowels}${consonants}(?:${vowels})?$`)
const measuredTwice = new RegExp(`^(?:${consonants})?${vowels}${consonants}${vowels}${consonants}`)
const hasVowel = new RegExp(`^(?:${consonants})?${vowel}`)
const shortEnd = new RegExp(`^${consonants}${vowel}[^aeiouwxy]$`)

const step2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

const step3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const step4 =
  /^(.+?)(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/

/** Of a word in lower case; one with anything but letters in it comes back as it is. */
export function porterStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  // A "y" at the beginning is a consonant to the rules below.
  const marked = word.startsWith('y') ? `Y${word.slice(1)}` : word
  return cutLast(cutSuffix(replaceSuffix(replaceSuffix(cutInflection(marked), step2), step3))).toLowerCase()
}

function cutInflection(word: string): string {
  const singular = cutPlural(word)
  const present = cutPast(singular)
  const stem = present.slice(0, -1)
  return present.endsWith('y') && hasVowel.test(stem) ? `${stem}i` : present
}

function cutPlural(word: string): string {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2)
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word
}

function cutPast(word: string): string {
  if (word.endsWith('eed')) return measuredOnce.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const stem = /^(.+?)(?:ed|ing)$/.exec(word)?.[1]
  if (stem === undefined || !hasVowel.test(stem)) return word
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1)
  return shortEnd.test(stem) ? `${stem}e` : stem
}

function replaceSuffix(word: string, suffixes: typeof step2): string {
  for (const [suffix, replacement] of suffixes) {
    if (!word.endsWith(suffix)) continue
    const stem = word.slice(0, -suffix.length)
    return measuredOnce.test(stem) ? stem + replacement : word
  }
  return word
}

function cutSuffix(word: string): string {
  const stem = step4.exec(word)?.[1]
  return stem !== undefined && measuredTwice.test(stem) ? stem : word
}

function cutLast(word: string): string {
  if (word.endsWith('e')) {
    const stem = word.slice(0, -1)
    const isSpare = measuredTwice.test(stem) || (measuredExactlyOnce.test(stem) && !shortEnd.test(stem))
    return isSpare ? stem : word
  }
  return word.endsWith('ll') && measuredTwice.test(word) ? word.slice(0, -1) : word
}
