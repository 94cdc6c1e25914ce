import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { z } from 'zod'

// A lint rule that was renamed, or a configuration that lost one, says nothing. These plant what each must find.

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'toolyard-lint-'))
after(() => rmSync(folder, { recursive: true }))

const report = z.object({
  diagnostics: z.array(
    z.object({ code: z.string().optional(), filename: z.string(), severity: z.enum(['error', 'warning']) }),
  ),
})

const values = (count: number) =>
  Array.from({ length: count }, (_, n) => `export const value${n} = ${n}`).join('\n')

const planted: Record<string, string> = {
  'typescript(no-floating-promises)': 'const load = async () => 1\nexport const run = () => { load() }',
  'typescript(no-misused-promises)':
    'const load = async () => 1\nexport const run = () => { if (load()) run() }',
  'typescript(await-thenable)': 'export const run = async () => { await 5 }',
  'typescript(no-explicit-any)': 'export const run = (value: any) => String(value)',
  'typescript(no-non-null-assertion)': 'export const run = (value: string | undefined) => value!',
  'typescript(no-unsafe-assignment)':
    "export const run = () => { const value: string = JSON.parse('1'); return value }",
  'typescript(no-unsafe-argument)': 'export const run = (value: string): string => run(JSON.parse(value))',
  'typescript(no-unsafe-return)': "export const run = (): string => JSON.parse('1')",
  'typescript(no-unsafe-member-access)': "export const run = () => { void JSON.parse('1').x }",
  'typescript(return-await)':
    'const load = async () => 1\nexport const run = async () => { try { return load() } catch { return 2 } }',
  'typescript(switch-exhaustiveness-check)':
    "export const run = (x: 'a' | 'b') => { switch (x) { case 'a': return 1 }; return 2 }",
  'typescript(only-throw-error)': "export const run = () => { throw 'text' }",
  'typescript(ban-ts-comment)': "// @ts-ignore\nexport const value: number = 'a'",
  'typescript(consistent-type-imports)':
    "import { Pool } from './pool.ts'\nexport const run = (pool: Pool) => pool",
  'typescript(no-require-imports)': "import fs = require('node:fs')\nexport const run = () => fs",
  'import(no-default-export)': 'export default 1',
  'import(no-cycle)': "import { back } from './loop.ts'\nexport const run = () => back()",
  'import(no-mutable-exports)': 'export let value = 1\nvalue = 2',
  'unicorn(prefer-node-protocol)': "import { join } from 'path'\nexport const run = () => join('a')",
  'unicorn(no-abusive-eslint-disable)': '/* eslint-disable */\nexport const value = 1',
  'eslint(eqeqeq)': "export const run = (x: string) => x == '1'",
  'eslint(no-console)': 'console.log(1)',
  'eslint(no-empty)': 'export const run = () => { try { run() } catch {} }',
  'eslint(no-warning-comments)': ['// TO', 'DO later\nexport const value = 1'].join(''),
  'eslint(no-param-reassign)': 'export const run = (x: number) => { x = 2; return x }',
  'eslint(max-params)': 'export const run = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e]',
  'eslint(max-depth)':
    'export const run = (a: number) => { if (a > 1) { if (a > 2) { if (a > 3) { if (a > 4) run(a) } } } }',
  'eslint(complexity)': `export const run = (a: number) => ${Array.from({ length: 15 }, (_, n) => `a === ${n} ? ${n} :`).join(' ')} 0`,
  'eslint(max-lines)': values(301),
  'eslint(max-lines-per-function)': `export const run = (a: number) => {\n${'  run(a)\n'.repeat(70)}}`,
}

const fileOf = (rule: string) => `libs/planted/src/${rule.replaceAll(/[()]+/g, '-').replace(/-$/, '')}.ts`

function lint(files: Record<string, string>): z.infer<typeof report>['diagnostics'] {
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), `${source}\n`)
  }
  const run = spawnSync(join(root, 'node_modules/.bin/oxlint'), ['-f', 'json', ...Object.keys(files)], {
    cwd: folder,
    encoding: 'utf8',
  })
  return report.parse(JSON.parse(run.stdout)).diagnostics
}

for (const file of ['.oxlintrc.json', 'tsconfig.json', '.gitignore', 'package.json'])
  cpSync(join(root, file), join(folder, file))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

test('every rule that the style relies on finds what is planted for it', () => {
  const found = lint({
    'libs/planted/src/pool.ts': 'export type Pool = { size: number }',
    'libs/planted/src/loop.ts': "import { run } from './import-no-cycle.ts'\nexport const back = () => run()",
    ...Object.fromEntries(Object.entries(planted).map(([rule, source]) => [fileOf(rule), source])),
  })
  for (const rule of Object.keys(planted)) {
    const severity = found.find((one) => one.code === rule && one.filename === fileOf(rule))?.severity
    assert.equal(severity, 'error', rule)
  }
})

test('a test has at most 500 lines', () => {
  const long = 'libs/planted/src/long.test.ts'
  const found = lint({ [long]: values(501), 'libs/planted/src/short.test.ts': values(500) })
  assert.deepEqual(
    found.map(({ code, filename, severity }) => [code, filename, severity]),
    [['eslint(max-lines)', long, 'error']],
  )
})

test('what is allowed where it belongs is let be', () => {
  const found = lint({
    'libs/planted/src/allowed.test.ts': `import { test } from 'node:test'\ntest('x', async () => { await Promise.resolve() })\nexport const x = () => {\n${'  x()\n'.repeat(70)}}`,
    'libs/planted/bench/allowed.ts': 'console.log(1)',
    'scripts/allowed.ts': 'console.log(1)',
  })
  assert.deepEqual(found, [])
})
