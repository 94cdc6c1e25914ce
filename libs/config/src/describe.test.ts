import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { yardSettings } from './apps.ts'
import { configurationPage, envExample } from './describe.ts'
import { loadConfig } from './load.ts'
import type { Setting } from './setting.ts'
import { settings } from './settings.ts'

const all = Object.values<Setting>(settings)

test('.env.example and docs/configuration.md are what the settings make', () => {
  for (const [path, made] of [
    ['.env.example', envExample()],
    ['docs/configuration.md', configurationPage()],
  ] as const) {
    const committed = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')
    const mend = 'run "npm run configuration" and commit the file'
    assert.ok(committed === made, `${path} is not what libs/config makes: ${mend}`)
  }
})

test('the example names every setting, commented out, and says what happens anyway', () => {
  assert.deepEqual(parseEnv(envExample()), {})
  const uncommented = parseEnv(envExample().replaceAll(/^#(?=[A-Z])/gm, ''))
  const names = all.flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env]))
  assert.deepEqual(Object.keys(uncommented).toSorted(), names.toSorted())
  assert.deepEqual(loadConfig(yardSettings, uncommented), loadConfig(yardSettings, {}))
})

test('the page has one row for each setting, with its default, and marks the secrets', () => {
  const rows = configurationPage()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.equal(rows.length, all.length)
  for (const [index, setting] of all.entries()) {
    const cells = rows[index]?.split(/(?<!\\)\|/).map((cell) => cell.trim()) ?? []
    assert.equal(cells.length, 6, rows[index])
    assert.equal(cells[1], `\`${setting.env}\`${setting.secret ? ' (secret)' : ''}`)
    assert.equal(cells[2], setting.default === undefined ? '' : `\`${setting.default}\``)
    assert.match(cells[3] ?? '', /^(?:(?:api|worker|scheduler)(?:, )?)+$|^`\.\/yard`$/)
    assert.equal(cells[4], setting.about.replaceAll('|', '\\|'))
  }
})
