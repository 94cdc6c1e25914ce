import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { readEnvironment, readTestEnvironment } from './installation.ts'

test('the environment wins over .env, also by a value that is empty', (t) => {
  const root = temporaryFolder(t)
  writeFileSync(join(root, '.env'), 'YARD_PORT=1\nYARD_HOST=a\nREDIS_URL=redis://h\n')
  assert.deepEqual(readEnvironment(root, { YARD_PORT: '2', REDIS_URL: '' }, '/'), {
    YARD_PORT: '2',
    YARD_HOST: 'a',
    REDIS_URL: '',
  })
})

test("a relative path of a secret's file is meant from where it was written: in .env the root, else the folder", (t) => {
  const root = temporaryFolder(t)
  writeFileSync(join(root, '.env'), 'DATABASE_URL_FILE=secrets/db.url\n')
  assert.deepEqual(readEnvironment(root, { REDIS_URL_FILE: '../redis.url' }, '/home/ada'), {
    DATABASE_URL_FILE: join(root, 'secrets/db.url'),
    REDIS_URL_FILE: '/home/redis.url',
  })
})

test('an absolute path, an empty one and a variable that is no setting stay as they are', (t) => {
  const given = { DATABASE_URL_FILE: '/run/secrets/db', REDIS_URL_FILE: '', OTHER_FILE: 'x' }
  assert.deepEqual(readEnvironment(temporaryFolder(t), given, '/home/ada'), given)
})

test('tests read of .env where the data is, and no server', (t) => {
  const root = temporaryFolder(t)
  writeFileSync(
    join(root, '.env'),
    'DATABASE_URL=postgres://production\nREDIS_URL_FILE=x\nDOCKER_HOST=tcp://h:1\nYARD_DATA_DIR=data\n',
  )
  assert.deepEqual(readTestEnvironment(root, { REDIS_URL_FILE: 'redis.url' }, '/home/ada'), {
    YARD_DATA_DIR: 'data',
    REDIS_URL_FILE: '/home/ada/redis.url',
  })
  assert.deepEqual(readTestEnvironment(temporaryFolder(t), {}, '/'), {})
})
