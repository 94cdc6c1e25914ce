import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchGlob, parseGlob } from './glob.ts'

// What the Docker client does with each, tried with version 28.
const cases: readonly (readonly [pattern: string, matches: string[], others: string[]])[] = [
  ['*.md', ['a.md', '.md'], ['d/a.md', 'a.mdx']],
  ['*/temp*', ['d/temp', 'd/temporary'], ['temp', 'a/b/temp']],
  ['temp?', ['temp1', 'tempü'], ['temp', 'temp/']],
  ['**/*.go', ['a.go', 'd/a.go', 'd/e/a.go'], ['a.gop']],
  ['**', ['a', 'a/b'], []],
  ['d/**', ['d/a', 'd/e/a'], ['d', 'e/d']],
  ['a**b', ['ab', 'ax/b'], ['axb']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb']],
  ['**.md', ['a.md', 'd/a.md'], ['a.m']],
  ['**.m?', ['.md', 'd/.md'], ['a.md']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[^a-c]x', ['dx'], ['ax']],
  ['[\\]]x', [']x'], ['\\x']],
  ['\\*', ['*'], ['a', '\\*']],
  ['a+(b)$', ['a+(b)$'], ['aab']],
]

test('a pattern matches what it matches for Docker', () => {
  for (const [pattern, matches, others] of cases) {
    const glob = parseGlob(pattern)
    assert.ok(glob, pattern)
    for (const path of matches) assert.ok(matchGlob(glob, path), `${pattern} should match ${path}`)
    for (const path of others) assert.ok(!matchGlob(glob, path), `${pattern} should not match ${path}`)
  }
})

test('what is no pattern for Docker is none here', () => {
  for (const pattern of ['[', '[]', '[]a]', 'a[', '[a', '[^]', '[b-a]', '[-a]', '[a-]', '\\', 'a\\'])
    assert.equal(parseGlob(pattern), undefined, pattern)
})

test('a pattern that would take a backtracking matcher for ages is decided at once', () => {
  const glob = parseGlob(`${'*a'.repeat(60)}${'**/'.repeat(60)}x`)
  assert.ok(glob)
  const beganAtMs = performance.now()
  assert.equal(matchGlob(glob, 'a/'.repeat(1_000)), false)
  assert.equal(matchGlob(glob, 'a'.repeat(250)), false)
  assert.ok(performance.now() - beganAtMs < 10_000)
})
