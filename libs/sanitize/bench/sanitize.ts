import { randomBytes } from 'node:crypto'
import { cleanHtml, htmlBytesMax } from '../src/clean-html.ts'
import { cleanText } from '../src/clean-text.ts'
import { createRedactor } from '../src/create-redactor.ts'

/** The best of several runs, in milliseconds, for a text and for one of twice its length: linear work about doubles. */
type SanitizeBench = { name: string; ms: number; doubleMs: number }[]

const mebibyte = 1_048_576
const knownNames = ['weather', 'tool_example']
const hostile = [
  '{',
  '}',
  '{}',
  '{a',
  '<',
  '[',
  '[TOOL:',
  '[/TOOL]',
  '(',
  'a(',
  'recall(',
  'weather(x)',
  'ACTION:',
  'a ',
  '\n',
  '\n ',
  '\u200b',
  '\u200d',
  '\u0301(',
  '（',
  '👍\u200d',
  '\ud800',
  '\u001b[',
]
const markup = [
  '<',
  '<b>',
  '</p>',
  '<b>x</b>',
  '<a href=http:a>',
  '<p style="color:red;',
  '&',
  '&#x41;',
  '<svg>',
  '<iframe>',
  '<noscript>',
  '<!--',
  '<td>',
  '<p ',
  '"a=b ',
]
const prose = 'The quick brown fox (jumps) over 13 lazy dogs: "ok". '

/** What hostile input costs. */
export function benchSanitize(runs = 3): SanitizeBench {
  const results: SanitizeBench = []
  const add = (name: string, unit: string, bytes: number, work: (text: string) => unknown): void => {
    const make = (length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
    results.push({ name, ms: best(runs, work, make(bytes)), doubleMs: best(runs, work, make(2 * bytes)) })
  }
  for (const unit of [...hostile, prose])
    add(`text, 1 MiB of ${JSON.stringify(unit)}`, unit, mebibyte, (text) => cleanText(text, { knownNames }))
  for (const unit of markup)
    add(`html, 50 kB of ${JSON.stringify(unit)}`, unit, htmlBytesMax / 2, (text) => cleanHtml(text))
  for (const [count, length] of [
    [2, 40],
    [50, 40],
    [50, 10_240],
  ] as const) {
    const secrets = Array.from({ length: count }, () =>
      randomBytes(length).toString('base64url').slice(0, length),
    )
    const redactor = createRedactor(secrets)
    const near = secrets[0]?.slice(0, -1) ?? ''
    for (const [what, unit] of [
      ['prose', prose],
      ['base64', randomBytes(786_432).toString('base64')],
      ['near hits', near],
      ['hits', secrets[0] ?? ''],
    ] as const) {
      const name = `redact, 1 MiB of ${what}, ${count} × ${length}`
      add(name, unit, mebibyte, (text) => redactor.redact(text))
      add(`${name}, stream`, unit, mebibyte, (text) => {
        const stream = redactor.stream()
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; at += 4_096) stream.push(bytes.subarray(at, at + 4_096))
        return stream.end()
      })
    }
  }
  return results
}

function best(runs: number, work: (text: string) => unknown, text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) {
    const began = performance.now()
    work(text)
    least = Math.min(least, performance.now() - began)
  }
  return least
}
