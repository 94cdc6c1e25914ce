import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDockerignore } from './read-dockerignore.ts'

const excludes = (text: string, path: string) => readDockerignore(text).rules.excludes(path)

test('what excludes a directory excludes what is in it', () => {
  assert.ok(excludes('node_modules\n', 'node_modules/a/b.js'))
  assert.ok(excludes('**/*.egg\n', 'd/x.egg/info'))
  assert.ok(!excludes('node_modules\n', 'd/node_modules'))
})

test('the last line that matches decides', () => {
  assert.ok(!excludes('*.md\n!README*.md\nREADME-secret.md', 'README-x.md'))
  assert.ok(excludes('*.md\n!README*.md\nREADME-secret.md', 'README-secret.md'))
  assert.ok(!excludes('*.md\nREADME-secret.md\n!README*.md', 'README-secret.md'))
  assert.ok(!excludes('*\n!src', 'src/a'))
})

test('comments, empty lines, spaces, line ends of Windows and other spellings of a path mean nothing', () => {
  const text = '\uFEFF# comment\r\n\r\n  /a/  \r\n./b//c\r\nd/../e\r\n! e/f\r\n #g'
  const { rules, faults } = readDockerignore(text)
  assert.deepEqual(faults, [])
  for (const path of ['a', 'a/x', 'b/c', 'e', '#g']) assert.ok(rules.excludes(path), path)
  for (const path of ['b', 'd', 'e/f', 'comment']) assert.ok(!rules.excludes(path), path)
  assert.ok(rules.hasExceptions)
})

test('each line that is no pattern is a fault with its line, and the others count', () => {
  const { rules, faults } = readDockerignore('a\n!\n[\nb\n')
  assert.deepEqual(
    faults.map(({ file, line, detail }) => [file, line, detail]),
    [
      ['.dockerignore', 2, '"!" is not a pattern'],
      ['.dockerignore', 3, '"[" is not a pattern'],
    ],
  )
  assert.ok(rules.excludes('a'))
  assert.ok(rules.excludes('b'))
})
