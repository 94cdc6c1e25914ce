import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dot, unit } from '../score/vectors.ts'
import { createLocalEmbedder } from './create-local-embedder.ts'
import { EmbedderError } from './embedder.ts'

test('the local model tells what is alike, lets the process go on meanwhile, and ends at the close', async () => {
  const embedder = createLocalEmbedder()
  let turns = 0
  const turning = setInterval(() => (turns += 1), 1)
  const [rain, weather, stocks, none] = await embedder.embed([
    'Will it rain tomorrow?',
    'Weather forecast for the next days',
    'Prices of shares on the stock market',
    '',
  ])
  clearInterval(turning)
  assert.ok(rain !== undefined && weather !== undefined && stocks !== undefined && none !== undefined)
  assert.ok([rain, weather, stocks, none].every((vector) => vector.length === embedder.dimensions))
  assert.ok(dot(unit(rain), unit(weather)) > dot(unit(rain), unit(stocks)) + 0.1)
  assert.ok(turns > 10, `only ${turns} turns of the event loop`)
  const [again] = await embedder.embed(['Will it rain tomorrow?'])
  assert.deepEqual(again, rain)
  const waiting = assert.rejects(embedder.embed(['one more']), EmbedderError)
  await embedder.close()
  await waiting
  await assert.rejects(embedder.embed(['after the end']), EmbedderError)
})

const fixture = (name: string) => new URL(`../../fixtures/${name}`, import.meta.url)

test('a model that could not be read once is read again', async () => {
  const flags = ['--import', fixture('fail-first-read.ts').href, fixture('embed-twice.ts').pathname]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 60_000 })
  const [first, second] = stdout.trim().split('\n')
  assert.match(first ?? '', /EMFILE/)
  assert.equal(second, '1')
})
