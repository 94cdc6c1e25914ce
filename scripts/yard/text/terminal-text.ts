// What a tool, its build or its manifest says is a stranger's text. Nothing of it may move the cursor, change a colour,
// turn a line around or hide in it: what cannot be seen is written out. Joiners stay, emojis are made with them.

const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** As one line. */
export function oneLine(text: string): string {
  return text.replaceAll(unseen, spellOut)
}

/** As lines: ends of lines and tabs are what they are. */
export function manyLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(unseen, (character) => (/[\n\t]/.test(character) ? character : spellOut(character)))
}

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const spellOut = (character: string) =>
  names[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/** Under a heading, moved to the right; text that ends within a line and text that does not look the same. */
export function indent(text: string, by = '  '): string {
  return manyLines(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : by + line))
    .join('\n')
}

/** The beginning, and that there was more. */
export function shorten(text: string, charactersMax: number): string {
  const characters = Array.from(text)
  return characters.length <= charactersMax ? text : `${characters.slice(0, charactersMax - 1).join('')}…`
}

/** Columns; the last one is not filled up, and where it would be cut by the terminal is the terminal's to decide. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
  return rows.map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  )
}

// Colours take no room.
const widthOf = (cell: string) => Array.from(stripColours(cell)).length

// oxlint-disable-next-line no-control-regex -- it is what colours begin with
const stripColours = (text: string) => text.replaceAll(/\u001b\[[0-9;]*m/g, '')

/** One line of JSON. The same characters are spelled as JSON spells them, for whoever shows it on a terminal. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(unseen, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
