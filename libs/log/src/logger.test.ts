import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './logger.ts'

function capture() {
  const lines: string[] = []
  const logger = createLogger({
    service: 'api',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  })
  return { logger, lines }
}

test('a line is one JSON object with time, level, service and the fields', () => {
  const { logger, lines } = capture()
  logger.info('listening', { port: 8080 })
  const line = JSON.parse(lines[0] ?? '')
  assert.equal(line.level, 'info')
  assert.equal(line.service, 'api')
  assert.equal(line.message, 'listening')
  assert.equal(line.port, 8080)
  assert.ok(!Number.isNaN(Date.parse(line.time)))
})

test('secrets in fields never reach the line', () => {
  const { logger, lines } = capture()
  logger.error('refused', {
    headers: { authorization: 'canary' },
    url: 'redis://:canary@host',
    error: new Error('yk_1_canary'),
  })
  assert.equal(lines.length, 1)
  assert.ok(!lines[0]?.includes('canary'), lines[0])
})

test('lines below the level are not written', () => {
  const { logger, lines } = capture()
  logger.debug('noise')
  assert.equal(lines.length, 0)
})

test('fields that throw when read cost the fields, not the caller', () => {
  const { logger, lines } = capture()
  const trap = {
    get value(): string {
      throw new Error('trap')
    },
  }
  logger.info('still here', trap)
  assert.match(lines[0] ?? '', /still here/)
})
