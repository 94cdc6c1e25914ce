import assert from 'node:assert/strict'
import { chmod, chown, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeToolsDirectory, manifestOf, writeTool } from './fixtures/tool-folders.ts'
import type { ContextEntry } from './found-tool.ts'
import { hashContext } from './hash-context.ts'
import { scanTools } from './scan-tools.ts'

async function hashOf(tools: string, extra: readonly string[] = []): Promise<string> {
  const { tools: found, faults } = await scanTools([tools], { extra, settleMs: 0 })
  assert.deepEqual(faults, [])
  assert.ok(found[0])
  return found[0].hash
}

test('everything an image is made from changes the hash, and no two changes make the same', async (t) => {
  const tools = await makeToolsDirectory(t)
  const files = { 'a.txt': 'one', 'b.txt': 'two', 'd/c': 'x', '.dockerignore': 'ignored\n', 'ignored/x': 'x' }
  const dir = await writeTool(tools, 'tool', files)
  await symlink('a.txt', join(dir, 'link'))
  const at = (path: string) => join(dir, path)
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    content: () => writeFile(at('a.txt'), 'ONE'),
    'swapped contents': () => Promise.all([writeFile(at('a.txt'), 'two'), writeFile(at('b.txt'), 'ONE')]),
    renamed: () => rename(at('a.txt'), at('a2.txt')),
    moved: () => rename(at('b.txt'), at('d/b.txt')),
    'a folder renamed': () => rename(at('d'), at('e')),
    executable: () => chmod(at('e/c'), 0o700),
    'an empty file': () => writeFile(at('empty'), ''),
    'an empty directory': () => mkdir(at('void')),
    'a file in its place': () => rm(at('void'), { recursive: true }).then(() => writeFile(at('void'), '')),
    'another link': () => rm(at('link')).then(() => symlink('b.txt', at('link'))),
    'a file with a link its content': () => rm(at('link')).then(() => writeFile(at('link'), 'b.txt')),
    manifest: () => writeFile(at('manifest.json'), `${manifestOf('tool')}\n`),
    dockerfile: () => writeFile(at('Dockerfile'), 'FROM scratch\n\n'),
    rules: () => writeFile(at('.dockerignore'), 'ignored\nmanifest.json\n'),
    'an ignored manifest': () => writeFile(at('manifest.json'), `${manifestOf('tool')}\n\n`),
  }
  const seen = new Set([await hashOf(tools)])
  for (const [what, change] of Object.entries(changes)) {
    await change()
    const hash = await hashOf(tools)
    assert.ok(!seen.has(hash), what)
    seen.add(hash)
  }
  const other = await hashOf(tools, ['another base'])
  assert.ok(!seen.has(other))
})

test('times, owners, other permissions and ignored files do not change the hash', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'tool', { 'd/a': 'x', 'ignored/x': 'x', '.dockerignore': 'ignored\n' })
  const before = await hashOf(tools)
  await utimes(join(dir, 'd/a'), 1, 1)
  await chmod(join(dir, 'd/a'), 0o600)
  await chmod(join(dir, 'd'), 0o700)
  if (process.getuid?.() === 0) await chown(join(dir, 'd/a'), 1_234, 1_234)
  await writeFile(join(dir, 'ignored/x'), 'y')
  assert.equal(await hashOf(tools), before)
  const elsewhere = await makeToolsDirectory(t)
  await writeTool(elsewhere, 'tool', { '.dockerignore': 'ignored\n', 'd/a': 'x' })
  assert.equal(await hashOf(elsewhere), before)
})

test('what crosses from one part to the next is another hash', () => {
  const file = (path: string): ContextEntry => ({
    type: 'file',
    path,
    executable: false,
    size: 1,
    digest: 'd',
  })
  const manifest = Buffer.from('{}')
  const identities = [
    { manifest, entries: [file('a')], extra: ['b', 'c'] },
    { manifest, entries: [file('a')], extra: ['bc'] },
    { manifest, entries: [file('a')], extra: ['c', 'b'] },
    { manifest, entries: [file('a')], extra: ['b', 'c', ''] },
    { manifest, entries: [file('a'), file('b')], extra: [] },
    { manifest, entries: [file('a:1:b')], extra: [] },
    { manifest: Buffer.from('{}1:a'), entries: [], extra: [] },
    { manifest, entries: [file('a\n')], extra: [] },
  ]
  assert.equal(new Set(identities.map(hashContext)).size, identities.length)
})
