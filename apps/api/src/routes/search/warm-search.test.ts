import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { searchGround } from '../../fixtures/search-ground.ts'

const ground = await searchGround({ weather: 'The weather in a city', radio: 'Plays songs' })

const countVectors = async () => (await ground.pool.query('select 1 from text_vectors')).rows.length

test('an api that starts makes what vectors its tools lack, and the first search has its meaning', async () => {
  await waitUntil('the vectors of two tools and the mean', async () => (await countVectors()) === 3)
  const asked = ground.embeddings.asked.length
  const query = 'do I need an umbrella'
  const found = await waitUntil('meaning', async () => {
    const answer = await ground.search({ body: { query } })
    return answer.searched_by === 'words' ? undefined : answer
  })
  assert.equal(found.tools.length, 2)
  const api = await ground.startApi()
  const first = await ground.search({ api, body: { query } })
  assert.equal(first.searched_by, 'meaning and words')
  assert.deepEqual(ground.embeddings.asked.slice(asked), [query, query], 'nothing is made twice')
})
