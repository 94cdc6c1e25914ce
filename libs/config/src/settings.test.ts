import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiSettings, schedulerSettings, workerSettings, yardSettings } from './apps.ts'
import type { Setting } from './setting.ts'
import { settings } from './settings.ts'

const all = Object.entries<Setting>(settings)

test('every setting is read by some process, and each process names it once', () => {
  assert.deepEqual(
    yardSettings.toSorted(),
    Object.keys(settings).toSorted(),
    'a setting that nobody reads is dead',
  )
  for (const list of [apiSettings, workerSettings, schedulerSettings, yardSettings])
    assert.equal(new Set<string>(list).size, list.length)
})

test('every variable is told apart: our own by their prefix, none twice, none that looks like the file of another', () => {
  const variables = all.map(([, { env }]) => env)
  assert.equal(new Set(variables).size, variables.length)
  for (const variable of variables) {
    assert.match(variable, /^(?:YARD_[A-Z]+(?:_[A-Z]+)*|DATABASE_URL|REDIS_URL|DOCKER_HOST)$/)
    assert.doesNotMatch(variable, /_FILE$/)
  }
})

test('every default is a value that the setting takes, and no secret has one', () => {
  for (const [name, setting] of all) {
    if (setting.default === undefined) continue
    assert.equal(setting.secret, undefined, name)
    assert.ok(setting.parse.safeParse(setting.default).success, name)
  }
})

test('every setting says in one line what it is', () => {
  for (const [name, { about }] of all) assert.match(about, /^[A-Z][^\n]{10,150}\.$/, name)
})
