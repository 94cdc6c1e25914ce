import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yardSettings } from '@toolyard/config/apps'
import type { Environment } from '@toolyard/config/load'
import { loadConfig } from '@toolyard/config/load'
import { changedSettings } from './changed-settings.ts'

const running = {
  url: 'http://127.0.0.1:8080',
  database: { kind: 'own', address: 'postgres@127.0.0.1:40000/toolyard' },
  engine: { kind: 'machine', dockerHost: 'unix:///var/run/docker.sock' },
  queue: 'postgres',
} as const

const changedBy = (environment: Environment) =>
  changedSettings({ config: loadConfig(yardSettings, environment) }, running)

test('the settings that it was started with are no change, also where it chose by itself', () => {
  assert.deepEqual(changedBy({}), [])
})

test('each setting that asks for something else is named with both values, and without its password', () => {
  const named = 'postgres://u:hunter2@db/prod'
  assert.deepEqual(
    changedBy({ YARD_PORT: '9', DATABASE_URL: named, REDIS_URL: 'redis://r', DOCKER_HOST: 'tcp://d:1' }),
    [
      'YARD_HOST, YARD_PORT: http://127.0.0.1:9, where it runs with http://127.0.0.1:8080',
      'DATABASE_URL: u@db:5432/prod, where it runs with none set',
      'REDIS_URL: a Redis, where it runs with none set',
      'DOCKER_HOST: tcp://d:1, where it runs with none set',
    ],
  )
})

test('a setting that was taken away is a change too', () => {
  const database = { kind: 'named', address: 'u@db:5432/prod' } as const
  const config = loadConfig(yardSettings, {})
  assert.deepEqual(changedSettings({ config }, { ...running, database }), [
    'DATABASE_URL: unset, where it runs with u@db:5432/prod',
  ])
})
