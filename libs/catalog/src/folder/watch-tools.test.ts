import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { makeToolsDirectory, writeTool } from './fixtures/tool-folders.ts'
import { watchTools } from './watch-tools.ts'

// Far beyond every test: what is told before was told because of an event.
const neverMs = 600_000

/** What was told since the last time, waited for. */
async function startWatch(t: TestContext, dirs: readonly string[], pollMs = neverMs, patienceMs = 5_000) {
  const stop = new AbortController()
  const told: string[][] = []
  const watching = await watchTools(dirs, (folders) => void told.push(folders.map((dir) => basename(dir))), {
    signal: stop.signal,
    settleMs: 40,
    patienceMs,
    pollMs,
  })
  t.after(async () => {
    stop.abort()
    await watching.ended
  })
  return {
    told,
    next: (what: string) => waitUntil(what, () => told.shift(), 4_000),
  }
}

test('a folder that is copied, edited, renamed, removed is told each time, once', async (t) => {
  const tools = await makeToolsDirectory(t)
  const source = await writeTool(await makeToolsDirectory(t), 'source', { 'a/b/c/d.txt': 'x' })
  await writeTool(tools, 'still')
  const { told, next } = await startWatch(t, [tools])
  const dir = join(tools, 'new')
  await cp(source, dir, { recursive: true })
  assert.deepEqual(await next('the copy'), ['new'])
  await appendFile(join(dir, 'a/b/c/d.txt'), 'y')
  assert.deepEqual(await next('the edit deep in it'), ['new'])
  await writeFile(join(dir, 'Dockerfile.tmp'), 'FROM scratch\n# other\n')
  await rename(join(dir, 'Dockerfile.tmp'), join(dir, 'Dockerfile'))
  assert.deepEqual(await next("an editor's rename"), ['new'])
  execFileSync('chmod', ['+x', join(dir, 'Dockerfile')])
  assert.deepEqual(await next('other permissions'), ['new'])
  await rename(dir, join(tools, 'newer'))
  assert.deepEqual(await next('the rename'), ['new', 'newer'])
  await appendFile(join(tools, 'newer/a/b/c/d.txt'), 'z')
  assert.deepEqual(await next('an edit after the rename'), ['newer'])
  await rm(join(tools, 'newer'), { recursive: true })
  assert.deepEqual(await next('the removal'), ['newer'])
  assert.deepEqual(told, [])
})

test('a folder replaced by another of the same name is watched like the first, again and again', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'tool', { 'sub/a': '0' })
  const { next } = await startWatch(t, [tools])
  for (let round = 0; round < 4; round++) {
    await rm(dir, { recursive: true })
    await writeTool(tools, 'tool', { 'sub/a': `replaced ${round}` })
    assert.deepEqual(await next(`replacement ${round}`), ['tool'])
    await appendFile(join(dir, 'sub/a'), 'edited')
    assert.deepEqual(await next(`edit ${round}`), ['tool'])
  }
})

test('a checkout of another state is told', async (t) => {
  const tools = await makeToolsDirectory(t)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', tools, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      stdio: 'pipe',
    })
  git('init', '-q', '-b', 'main')
  await writeTool(tools, 'one', { 'a/x': '1' })
  git('add', '.')
  git('commit', '-qm', 'one')
  git('checkout', '-qb', 'other')
  await writeTool(tools, 'one', { 'a/x': '2' })
  await writeTool(tools, 'two')
  git('add', '.')
  git('commit', '-qm', 'two')
  const { told, next } = await startWatch(t, [tools])
  git('checkout', '-q', 'main')
  assert.deepEqual(await next('the older state'), ['one', 'two'])
  git('checkout', '-q', 'other')
  assert.deepEqual(await next('the newer state'), ['one', 'two'])
  assert.deepEqual(told, [])
})

test('what is no part of a tool is not told', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'tool', { '.dockerignore': 'ignored\n', 'ignored/x': 'x' })
  const { told, next } = await startWatch(t, [tools])
  await writeFile(join(dir, 'ignored/x'), 'y')
  await writeFile(join(dir, 'ignored/new'), 'y')
  await writeFile(join(tools, 'README.md'), 'y')
  await mkdir(join(tools, '_base'))
  await writeFile(join(tools, '_base/x'), 'y')
  await appendFile(join(dir, 'Dockerfile'), '\n')
  assert.deepEqual(await next('the one change that matters'), ['tool'])
  assert.deepEqual(told, [])
})

test('a directory of tools may appear later, go and come again', async (t) => {
  const tools = join(await makeToolsDirectory(t), 'tools')
  const { next } = await startWatch(t, [tools])
  await writeTool(tools, 'tool')
  assert.ok((await next('the directory')).includes('tool'))
  await rm(tools, { recursive: true })
  assert.ok((await next('its end')).includes('tool'))
  await writeTool(tools, 'tool')
  assert.ok((await next('its return')).includes('tool'))
  await appendFile(join(tools, 'tool/Dockerfile'), '\n')
  assert.deepEqual(await next('an edit'), ['tool'])
})

test('what no event tells is seen by the poll', async (t) => {
  const elsewhere = await makeToolsDirectory(t)
  // The parent does not exist either, so that nothing can be watched.
  const tools = join(elsewhere, 'not/yet')
  const { next } = await startWatch(t, [tools], 50)
  await writeTool(tools, 'tool')
  assert.ok((await next('the tool')).includes('tool'))
})

test('a folder that is written without end is told after a while all the same', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'busy')
  const { told } = await startWatch(t, [tools], neverMs, 400)
  const stop = new AbortController()
  const writing = (async () => {
    while (!stop.signal.aborted) await appendFile(join(dir, 'log'), 'x')
  })()
  await waitUntil('the word', () => told.length > 0).finally(() => stop.abort())
  await writing
})

test('a failing listener ends the watch and is told', async (t) => {
  const tools = await makeToolsDirectory(t)
  const stop = new AbortController()
  t.after(() => stop.abort())
  const fail = () => Promise.reject(new Error('no database'))
  const { ended } = await watchTools([tools], fail, { signal: stop.signal, settleMs: 20, pollMs: neverMs })
  const ending = assert.rejects(ended, /no database/)
  await writeTool(tools, 'tool')
  await ending
})

test('the next change waits until the listener has returned, and is not lost', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'tool')
  const stop = new AbortController()
  const calls = { running: 0, most: 0, done: 0 }
  const release = Promise.withResolvers<void>()
  const onChange = async () => {
    calls.running += 1
    calls.most = Math.max(calls.most, calls.running)
    await release.promise
    calls.running -= 1
    calls.done += 1
  }
  const { ended } = await watchTools([tools], onChange, {
    signal: stop.signal,
    settleMs: 20,
    pollMs: neverMs,
  })
  await appendFile(join(dir, 'Dockerfile'), '1')
  await waitUntil('the first call', () => calls.running === 1)
  await appendFile(join(dir, 'Dockerfile'), '2')
  release.resolve()
  await waitUntil('the second call', () => calls.done === 2)
  assert.equal(calls.most, 1)
  stop.abort()
  await ended
})

test('after the signal nothing is held: no watcher, no timer', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'tool', { 'a/b/c': 'x' })
  const held = () => process.getActiveResourcesInfo().filter((kind) => /FSEvent|Timeout/.test(kind)).length
  const before = held()
  for (const when of ['before', 'later']) {
    const stop = new AbortController()
    if (when === 'before') stop.abort()
    const watching = await watchTools([tools], () => undefined, { signal: stop.signal })
    if (when === 'later') assert.ok(held() > before)
    stop.abort()
    await watching.ended
    await waitUntil('all is let go', () => held() <= before)
  }
})
