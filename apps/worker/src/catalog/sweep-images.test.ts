import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '@toolyard/log/logger'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openCatalogGround, someFolder } from '../fixtures/catalog-ground.ts'
import { sweepImages } from './sweep-images.ts'

const log = createLogger({ service: 'worker', level: 'debug', destination: { write: () => {} } })

test('what is old leaves the engine after its grace, and nobody else’s goes with it', async () => {
  const [ground, neighbour] = await Promise.all([openCatalogGround(), openCatalogGround()])
  const { pool, instance } = ground
  const [kept, gone] = [`kept_${instance}`, `gone_${instance}`]
  const worker = await ground.startWorker('w1', { watch: true })
  await neighbour.write(someFolder(gone))
  await neighbour.startWorker('w2')
  await ground.write(someFolder(gone))
  await ground.until('is ready', gone, ({ image }) => image.state === 'ready')
  await neighbour.until('is ready', gone, ({ image }) => image.state === 'ready')
  const hashes: string[] = []
  for (const content of ['one', 'two', 'three', 'four']) {
    await ground.write(someFolder(kept, content))
    const { servingHash } = await ground.until(
      `serves ${content}`,
      kept,
      (tool) => tool.servingHash !== null && !hashes.includes(tool.servingHash),
    )
    hashes.push(servingHash ?? '')
  }
  await ground.remove(gone)
  await waitUntil('it is gone', async () => !(await ground.catalog.view()).byName.has(gone))
  await worker.stop()

  const hashesOf = async (tool: string) => {
    const images = await ground.images()
    return images.filter((image) => image.tool === tool).map(({ hash }) => hash)
  }
  const sweep = () =>
    sweepImages({ pool, log, docker: openEngine(testDockerHost()), instance, engineId: worker.engineId })
  await sweep()
  assert.equal((await hashesOf(kept)).length, 4, 'within its grace')
  assert.equal((await hashesOf(gone)).length, 1, 'within its grace')

  await pool.query("update images set changed_at = changed_at - interval '23 hours 50 minutes'")
  await pool.query("update tools set removed_at = removed_at - interval '23 hours 50 minutes'")
  await sweep()
  assert.equal((await ground.images()).length, 5, 'ten minutes before its end')

  await pool.query("update images set changed_at = changed_at - interval '20 minutes'")
  await pool.query("update tools set removed_at = removed_at - interval '20 minutes'")
  await sweep()
  assert.deepEqual(
    new Set(await hashesOf(kept)),
    new Set(hashes.slice(1)),
    'what serves, and two to go back to',
  )
  assert.deepEqual(await hashesOf(gone), [])
  assert.equal((await neighbour.images()).length, 1, 'another installation has its own')
})
