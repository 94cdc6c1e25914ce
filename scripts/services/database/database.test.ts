import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabaseServer } from '@toolyard/testkit/environment'
import { freePort } from '@toolyard/service/free-port'
import { addressOf, waitForDatabase } from './database.ts'

const never = new AbortController().signal

test('a database that answers is not waited for', async () => {
  await waitForDatabase(testDatabaseServer(), 0, never)
})

test('one that does not is named with host, port and mend, and without its password', async () => {
  const port = await freePort()
  await assert.rejects(
    waitForDatabase(`postgres://u:hunter2@127.0.0.1:${port}/d`, 150, never),
    (error: Error) => {
      assert.match(
        error.message,
        new RegExp(`^No database at u@127.0.0.1:${port}/d .*ECONNREFUSED.*correct DATABASE_URL`),
      )
      assert.doesNotMatch(error.message, /hunter2/)
      return true
    },
  )
})

test('a database or password that does not exist is refused at once: waiting does not make it', async () => {
  const url = new URL(testDatabaseServer())
  url.pathname = '/no_such_database'
  await assert.rejects(waitForDatabase(url.href, 60_000, never), /no_such_database/)
  const wrong = new URL(testDatabaseServer())
  wrong.username = 'no_such_user'
  wrong.password = 'hunter2'
  await assert.rejects(waitForDatabase(wrong.href, 60_000, never), (error: Error) => {
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
})

test('an address has no secret in it', () => {
  assert.equal(addressOf('postgres://u:p@h:1/d?sslkey=secret&password=x'), 'u@h:1/d')
  assert.equal(addressOf('postgres://h/d'), 'h:5432/d')
  assert.equal(addressOf('redis://:p@h'), 'h:6379')
})
