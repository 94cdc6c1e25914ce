import type { StyleWord } from './style-values.ts'

// Which properties a card may set, and to what. Nothing here can leave the card: no position but the ordinary ones,
// no offsets, no negative margins, no layers, no transformations, nothing hidden, nothing fetched, every length
// bounded. Units of the window are not among the lengths: a card knows nothing about the window.

export type StyleRule = {
  /** Closed list, or `any` where an unknown word does nothing (colours, fonts). */
  words?: readonly string[] | 'any'
  /** In pixels; other units by what they usually come to. */
  lengths?: readonly [min: number, max: number]
  percent?: readonly [min: number, max: number]
  /** Without a unit. */
  numbers?: readonly [min: number, max: number]
  fractions?: boolean
  colors?: boolean
  gradients?: boolean
  tracks?: boolean
  strings?: boolean
  marks?: boolean
}

const pixels: Record<string, number> = { px: 1, pt: 4 / 3, em: 16, rem: 16, ch: 8, ex: 8 }
const sizes = { lengths: [0, 2_000], percent: [0, 100] } as const
const gaps = { lengths: [0, 200], percent: [0, 50] } as const
const color = { colors: true, words: 'any' } as const
const sizeWords = ['auto', 'none', 'min-content', 'max-content', 'fit-content']
const lineWords = ['none', 'solid', 'dashed', 'dotted', 'double', 'groove', 'ridge', 'inset', 'outset']
const border = { colors: true, words: 'any', lengths: [0, 20] } as const
const shadow = { colors: true, words: 'any', lengths: [-40, 40], marks: true } as const
const alignWords = [
  'normal',
  'stretch',
  'center',
  'start',
  'end',
  'flex-start',
  'flex-end',
  'self-start',
  'self-end',
  'left',
  'right',
  'baseline',
  'first',
  'last',
  'space-between',
  'space-around',
  'space-evenly',
  'safe',
  'auto',
]
const align = { words: alignWords }
const track = {
  lengths: [0, 2_000],
  percent: [0, 100],
  fractions: true,
  tracks: true,
  words: sizeWords,
} as const
const line = { numbers: [-24, 24], words: ['auto', 'span'], marks: true } as const

const listMarks = [
  'none',
  'disc',
  'circle',
  'square',
  'decimal',
  'lower-alpha',
  'upper-alpha',
  'lower-roman',
  'upper-roman',
]

const rules: Record<string, StyleRule> = {
  color,
  'background-color': color,
  background: { ...color, gradients: true, percent: [-100, 200], marks: true },
  'background-image': { words: ['none'], gradients: true, marks: true },
  opacity: { numbers: [0.1, 1], percent: [10, 100] },
  'accent-color': color,
  'border-radius': { lengths: [0, 2_000], percent: [0, 100], marks: true },
  'border-style': { words: lineWords },
  'border-width': { lengths: [0, 20], words: ['thin', 'medium', 'thick'] },
  'border-color': color,
  'border-collapse': { words: ['collapse', 'separate'] },
  'border-spacing': { lengths: [0, 100] },
  outline: border,
  'box-shadow': shadow,
  'text-shadow': shadow,
  'box-sizing': { words: ['border-box', 'content-box'] },
  position: { words: ['static', 'relative'] },
  display: {
    words: [
      'block',
      'inline',
      'inline-block',
      'flex',
      'inline-flex',
      'grid',
      'inline-grid',
      'flow-root',
      'list-item',
      'table',
      'inline-table',
      'table-row',
      'table-cell',
      'table-row-group',
      'table-header-group',
      'table-footer-group',
      'table-column',
      'table-column-group',
      'table-caption',
    ],
  },
  float: { words: ['none', 'left', 'right', 'inline-start', 'inline-end'] },
  clear: { words: ['none', 'left', 'right', 'both'] },
  overflow: { words: ['visible', 'hidden', 'clip', 'auto', 'scroll'] },
  'overflow-x': { words: ['visible', 'hidden', 'clip', 'auto', 'scroll'] },
  'overflow-y': { words: ['visible', 'hidden', 'clip', 'auto', 'scroll'] },
  'aspect-ratio': { numbers: [0.05, 100], words: ['auto'], marks: true },
  'object-fit': { words: ['fill', 'contain', 'cover', 'none', 'scale-down'] },
  flex: { numbers: [0, 100], lengths: [0, 2_000], percent: [0, 100], words: sizeWords },
  'flex-direction': { words: ['row', 'row-reverse', 'column', 'column-reverse'] },
  'flex-wrap': { words: ['nowrap', 'wrap', 'wrap-reverse'] },
  'flex-flow': {
    words: ['row', 'row-reverse', 'column', 'column-reverse', 'nowrap', 'wrap', 'wrap-reverse'],
  },
  'flex-grow': { numbers: [0, 100] },
  'flex-shrink': { numbers: [0, 100] },
  'flex-basis': { ...sizes, words: sizeWords },
  order: { numbers: [-100, 100] },
  'grid-template-columns': track,
  'grid-template-rows': track,
  'grid-auto-rows': track,
  'grid-auto-columns': track,
  'grid-auto-flow': { words: ['row', 'column', 'dense'] },
  'grid-column': line,
  'grid-row': line,
  gap: gaps,
  'row-gap': gaps,
  'column-gap': gaps,
  'font-family': { words: 'any', strings: true, marks: true },
  // `em` becomes `rem`, and there is no `%`, `larger` or `smaller`: nested, they would multiply without bound.
  'font-size': {
    lengths: [6, 96],
    words: ['xx-small', 'x-small', 'small', 'medium', 'large', 'x-large', 'xx-large'],
  },
  'font-weight': { numbers: [1, 1_000], words: ['normal', 'bold', 'bolder', 'lighter'] },
  'font-style': { words: ['normal', 'italic', 'oblique'] },
  'font-variant': { words: ['normal', 'small-caps', 'all-small-caps', 'tabular-nums'] },
  'font-variant-numeric': {
    words: ['normal', 'tabular-nums', 'lining-nums', 'oldstyle-nums', 'slashed-zero'],
  },
  'line-height': { numbers: [0.5, 5], lengths: [4, 200], percent: [50, 500], words: ['normal'] },
  'letter-spacing': { lengths: [-2, 20], words: ['normal'] },
  'word-spacing': { lengths: [0, 40], words: ['normal'] },
  'text-align': { words: ['left', 'right', 'center', 'justify', 'start', 'end'] },
  'text-decoration': { colors: true, words: 'any' },
  'text-decoration-line': { words: ['none', 'underline', 'overline', 'line-through'] },
  'text-transform': { words: ['none', 'uppercase', 'lowercase', 'capitalize'] },
  'text-overflow': { words: ['clip', 'ellipsis'] },
  'text-wrap': { words: ['wrap', 'nowrap', 'balance', 'pretty'] },
  'white-space': { words: ['normal', 'nowrap', 'pre', 'pre-wrap', 'pre-line', 'break-spaces'] },
  'word-break': { words: ['normal', 'break-all', 'keep-all', 'break-word'] },
  'overflow-wrap': { words: ['normal', 'break-word', 'anywhere'] },
  'vertical-align': {
    words: ['baseline', 'top', 'middle', 'bottom', 'sub', 'super', 'text-top', 'text-bottom'],
  },
  'list-style': {
    words: [...listMarks, 'inside', 'outside'],
  },
  'list-style-type': { words: listMarks },
  'table-layout': { words: ['auto', 'fixed'] },
  'caption-side': { words: ['top', 'bottom'] },
}

for (const name of ['width', 'height', 'min-width', 'max-width', 'min-height', 'max-height'])
  rules[name] = { ...sizes, words: sizeWords }
for (const name of ['margin', 'padding'])
  for (const side of ['', '-top', '-right', '-bottom', '-left', '-block', '-inline'])
    rules[name + side] = { ...gaps, words: name === 'margin' ? ['auto'] : [] }
for (const side of ['', '-top', '-right', '-bottom', '-left']) rules[`border${side}`] = border
for (const name of [
  'align-items',
  'align-content',
  'align-self',
  'justify-content',
  'justify-items',
  'justify-self',
])
  rules[name] = align
for (const name of ['place-items', 'place-content', 'place-self']) rules[name] = align

const colorCalls = ['rgb', 'rgba', 'hsl', 'hsla']
const gradientCalls = ['linear-gradient', 'radial-gradient', 'conic-gradient']
const colorPart: StyleRule = { numbers: [-360, 1_000], percent: [0, 100], marks: true }
const gradientPart: StyleRule = {
  colors: true,
  words: 'any',
  percent: [-100, 200],
  lengths: [0, 2_000],
  marks: true,
}
const minmaxPart: StyleRule = {
  lengths: [0, 2_000],
  percent: [0, 100],
  fractions: true,
  words: sizeWords,
  marks: true,
}
const repeatPart: StyleRule = {
  ...minmaxPart,
  numbers: [1, 24],
  tracks: true,
  words: [...sizeWords, 'auto-fit', 'auto-fill'],
}

export function findStyleRule(property: string): StyleRule | undefined {
  return Object.hasOwn(rules, property) ? rules[property] : undefined
}

export function allowsWord(rule: StyleRule, word: StyleWord): boolean {
  if (word.kind === 'word') return rule.words === 'any' || (rule.words?.includes(word.text) ?? false)
  if (word.kind === 'number') return allowsNumber(rule, word.value, word.unit)
  if (word.kind === 'call') return allowsCall(rule, word.name, word.words)
  if (word.kind === 'color') return rule.colors === true
  return word.kind === 'string' ? rule.strings === true : rule.marks === true
}

function allowsNumber(rule: StyleRule, value: number, unit: string): boolean {
  if (unit === '%') return isWithin(rule.percent, value)
  if (unit === 'fr') return rule.fractions === true && value >= 0 && value <= 100
  if (unit === 'deg' || unit === 'turn') return rule === gradientPart
  if (unit === '') return isWithin(rule.numbers, value) || (value === 0 && isWithin(rule.lengths, 0))
  const factor = Object.hasOwn(pixels, unit) ? pixels[unit] : undefined
  return factor !== undefined && isWithin(rule.lengths, value * factor)
}

function isWithin(range: readonly [number, number] | undefined, value: number): boolean {
  return range !== undefined && value >= range[0] && value <= range[1]
}

function allowsCall(rule: StyleRule, name: string, words: readonly StyleWord[]): boolean {
  if (colorCalls.includes(name))
    return rule.colors === true && words.every((word) => allowsWord(colorPart, word))
  if (gradientCalls.includes(name))
    return rule.gradients === true && words.every((word) => allowsWord(gradientPart, word))
  if (rule.tracks !== true) return false
  if (name === 'minmax') return words.every((word) => allowsWord(minmaxPart, word))
  return name === 'repeat' && words.every((word) => allowsWord(repeatPart, word))
}
