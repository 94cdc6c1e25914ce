import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseImagesOf, globalArgumentsOf } from './base-images-of.ts'

test('the images of FROM lines are found as the engine reads them', () => {
  const cases: [string, string[]][] = [
    ['FROM debian', ['debian']],
    [
      '\uFEFFfrom debian:12@sha256:abc as Build\nFROM build\nFROM other AS x',
      ['debian:12@sha256:abc', 'other'],
    ],
    ['FROM --platform=linux/amd64 a\nFROM --platform=$X b AS c', ['a', 'b']],
    ['FROM scratch\nCOPY --from=0 /a /b', []],
    ['# FROM no\n  # FROM no\nFROM yes # no', ['yes']],
    ['FROM \\\n  # in between\n\n  toolyard/base-shell \\\n AS x\nRUN FROM no', ['toolyard/base-shell']],
    ['RUN echo \\\nFROM no\nFROM yes', ['yes']],
    ['RUN echo \\\\\nFROM yes', ['yes']],
    ['# escape=`\nFROM `\n yes\nRUN dir C:\\\nFROM also', ['yes', 'also']],
    ['# a comment first\n# escape=`\nFROM a\\\nb', ['ab']],
    ['FROM a\r\nFROM b\r\n', ['a', 'b']],
    ['FROM a\nFROM a', ['a']],
    ['FROM a\nCOPY --chown=1 --from=toolyard/base-python /x /y', ['a', 'toolyard/base-python']],
    ['FROM a AS b\nCOPY --from=B /x /y\nCOPY --from=1 /x /y', ['a']],
    ['', []],
    ['FROM', []],
    ['FROM a \\', ['a']],
  ]
  for (const [dockerfile, images] of cases) assert.deepEqual(baseImagesOf(dockerfile), images, dockerfile)
})

test('arguments of before the first FROM have their values in it', () => {
  const cases: [string, string[], Record<string, string>?][] = [
    ['ARG A=x\nFROM $A', ['x']],
    ['ARG A="x"\nARG B=${A}-y\nFROM r/${B}:1', ['r/x-y:1']],
    ['ARG A=1 B=2\nFROM x:$A.$B', ['x:1.2']],
    ['ARG A\nFROM $A', []],
    ['ARG A\nFROM $A', ['given'], { A: 'given' }],
    ['ARG A=x\nFROM $A', ['given'], { A: 'given' }],
    ['ARG A\nFROM ${A:-x}\nFROM ${A:+y}z', ['x', 'z']],
    ['ARG B=x\nARG A\nFROM ${A:-$B}', ['x']],
    ['FROM a\nARG A=x\nFROM ${A}', ['a']],
  ]
  for (const [dockerfile, images, given] of cases)
    assert.deepEqual(baseImagesOf(dockerfile, given), images, dockerfile)
  assert.deepEqual(globalArgumentsOf('ARG A=1 B\nARG C\nFROM x\nARG D'), ['A', 'B', 'C'])
  assert.deepEqual(globalArgumentsOf('ARG A'), [])
})

test('a Dockerfile that is made to be slow is read in no time', () => {
  const doubling = Array.from({ length: 40 }, (_, n) => `ARG A${n + 1}=$A${n}$A${n}`)
  const startedMs = performance.now()
  baseImagesOf(['ARG A0=xx', ...doubling, 'FROM $A40'].join('\n'))
  baseImagesOf('a \\\n'.repeat(65_000))
  baseImagesOf(`FROM ${'"'.repeat(250_001)}`)
  baseImagesOf(`FROM ${'\\ '.repeat(125_000)}x`)
  baseImagesOf(`ARG A=x\nFROM ${'$A'.repeat(125_000)}`)
  assert.ok(performance.now() - startedMs < 10_000)
})
