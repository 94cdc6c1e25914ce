import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { choice, endpoint, integer, secretUrl, text, word, yesOrNo } from './parsers.ts'

/** What is wrong with each text; undefined where nothing is. */
function judge(parser: z.ZodType<unknown, string>, texts: string[]): (string | undefined)[] {
  return texts.map((one) => {
    const parsed = parser.safeParse(one)
    return parsed.success ? undefined : parsed.error.issues.map((issue) => issue.message).join('; ')
  })
}

const every = (texts: string[], message: string | undefined) => texts.map(() => message)

test('a whole number is one within its bounds, both included', () => {
  const parser = integer({ min: -2, max: 10 })
  assert.deepEqual(
    ['-2', '0', '007', '10'].map((one) => parser.parse(one)),
    [-2, 0, 7, 10],
  )
  const beyond = ['-3', '11', '9'.repeat(400)]
  assert.deepEqual(judge(parser, beyond), every(beyond, 'must be from -2 to 10'))
  const none = [
    '',
    ' 5',
    '5 ',
    '5\n',
    '+5',
    '1e1',
    '0x5',
    '5.0',
    '5,0',
    'five',
    '--5',
    '٥',
    'NaN',
    'Infinity',
  ]
  assert.deepEqual(judge(parser, none), every(none, 'must be a whole number from -2 to 10'))
})

test('a choice is one of its words, letter by letter', () => {
  const parser = choice('debug', 'info')
  assert.equal(parser.parse('info'), 'info')
  const others = ['', 'INFO', 'info ', 'warn', 'toString']
  assert.deepEqual(judge(parser, others), every(others, 'must be one of: debug, info'))
})

test('a text is not empty', () => {
  assert.equal(text().parse(' x '), ' x ')
  assert.deepEqual(judge(text(), ['']), ['must not be empty'])
})

test('a secret URL has one of its protocols', () => {
  const parser = secretUrl('postgres:', 'postgresql:')
  for (const url of ['postgres://ada:pw@db:5432/x?sslmode=require', 'postgresql://db', 'POSTGRES://db'])
    assert.equal(parser.parse(url).reveal(), url)
  const others = ['', 'db:5432', 'postgres', '//db', 'http://db', 'postgres2://db', 'postgres://db:port/x']
  assert.deepEqual(
    judge(parser, others),
    every(others, 'must be a URL beginning postgres:// or postgresql://'),
  )
})

test('an endpoint has one of its protocols', () => {
  const parser = endpoint('unix:', 'tcp:')
  for (const url of ['unix:///var/run/docker.sock', 'tcp://10.0.0.1:2375'])
    assert.equal(parser.parse(url), url)
  const others = ['', '/var/run/docker.sock', 'http://x', 'npipe:////./pipe/docker_engine']
  assert.deepEqual(judge(parser, others), every(others, 'must begin unix:// or tcp://'))
})

test('a word is short and safe inside a key', () => {
  assert.deepEqual(judge(word(), ['a', 'Prod_2-b', 'x'.repeat(40)]), [undefined, undefined, undefined])
  const wrong = ['', 'a:b', 'a b', '{a}', 'x'.repeat(41), 'a\n']
  assert.deepEqual(judge(word(), wrong), every(wrong, 'must be 1 to 40 letters, digits, "_" or "-"'))
})

test('yes and no are the only answers', () => {
  assert.deepEqual(
    ['yes', 'no'].map((one) => yesOrNo().parse(one)),
    [true, false],
  )
  const wrong = ['', 'true', '1', 'Yes', 'yes ']
  assert.deepEqual(judge(yesOrNo(), wrong), every(wrong, 'must be yes or no'))
})
