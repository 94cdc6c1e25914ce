import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import type { Yard } from '../fixtures/yard.ts'
import { outcomeOf, projectRoot, readiness, testYard } from '../fixtures/yard.ts'

test('dev restarts an app whose source changes, and Ctrl-C leaves nothing', async (t) => {
  const root = copyOfProject(t)
  const yard = await testYard(t, {}, root)
  const child = yard.start(['dev'])
  const outcome = outcomeOf(child)
  await waitUntil('it is ready', async () => (await yard.run(['status'])).code === 0, 60_000)
  const before = appsOf(yard)
  assert.equal(before.length, 3)

  appendFileSync(join(root, 'apps/api/src/main.ts'), '// changed\n')
  await waitUntil('only the api is another', () => {
    const now = appsOf(yard)
    const isKept = (line: string) => now.includes(line) !== line.includes('apps/api')
    return now.length === 3 && before.every(isKept)
  })
  await waitUntil('it is ready again', async () => (await readiness(yard.url)) === 200, 30_000)

  child.kill('SIGINT')
  const { code, stdout } = await outcome
  assert.equal(code, 0)
  assert.match(stdout, /^api +\| .*Restarting/m)
  assert.deepEqual(yard.processes(), [])
})

/** `pid command` of the apps themselves, without the programs that watch them. */
const appsOf = (yard: Yard) =>
  yard.processes().filter((line) => /apps\/\w+\/src\/main\.ts/.test(line) && !line.includes('--watch '))

/** What dev runs and watches, to be changed at will; with a space in its path, which any checkout may have. */
function copyOfProject(t: TestContext): string {
  const root = join(temporaryFolder(t), 'die Werkzeuge für alle')
  mkdirSync(root)
  for (const name of ['yard', 'package.json', 'package-lock.json', 'apps', 'scripts'])
    cpSync(join(projectRoot, name), join(root, name), { recursive: true })
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'))
  return root
}
