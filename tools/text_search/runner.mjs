import { readFileSync } from 'node:fs'
import { answer } from './answer.mjs'
import { Refusal, compile } from './compile.mjs'
import { findMatches } from './find-matches.mjs'

// Finds what a pattern matches in a text. The payload is the argument or, where there is none, stdin; both in base64.

const milliseconds = 4_000
const limitMax = 500
const contextMax = 200

function main(encoded) {
  const { params = {} } = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'))
  const { text = '', pattern = '', literal, ignore_case, dot_all } = params
  const limit = Math.min(Math.max(params.limit ?? 50, 1), limitMax)
  const context = Math.min(Math.max(params.context ?? 40, 0), contextMax)
  const regex = compile({ pattern, literal, ignore_case, dot_all, text })
  return answer(findMatches(regex, { text, limit, context, milliseconds }), { pattern, text })
}

try {
  const output = main(process.argv[2] ?? readFileSync(0, 'utf8'))
  process.stdout.write(JSON.stringify(output))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stdout.write(JSON.stringify({ error: error.message.replaceAll('{', '(').replaceAll('}', ')') }))
  process.exitCode = 1
}
