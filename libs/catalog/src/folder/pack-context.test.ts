import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { makeToolsDirectory, writeTool } from './fixtures/tool-folders.ts'
import type { FoundTool } from './found-tool.ts'
import { packContext } from './pack-context.ts'
import { scanTools } from './scan-tools.ts'

async function findTool(tools: string): Promise<FoundTool> {
  const { tools: found, faults } = await scanTools([tools], { extra: [], settleMs: 0 })
  assert.deepEqual(faults, [])
  assert.ok(found[0])
  return found[0]
}

const longName = `${'long-directory-name/'.repeat(12)}${'ü'.repeat(110)}`

test('an archive holds exactly what was hashed, whatever the names, and can be read by tar', async (t) => {
  const tools = await makeToolsDirectory(t)
  const hundred = 'h'.repeat(100)
  const dir = await writeTool(tools, 'tool', {
    [longName]: 'long',
    [hundred]: 'hundred',
    'new\nline': 'n',
    'run.sh': '#!/bin/sh\n',
    'big.bin': 'b'.repeat(700_000),
    'ignored/x': 'x',
    'ignored/kept': 'k',
    empty: '',
    '.dockerignore': 'ignored\n!ignored/kept\nDockerfile\n.dockerignore\nmanifest.json\n',
  })
  await chmod(join(dir, 'run.sh'), 0o4711)
  await mkdir(join(dir, 'void'))
  await symlink('run.sh', join(dir, 'link'))
  await symlink(longName, join(dir, 'long-link'))
  const archive = await buffer(packContext(await findTool(tools)))
  assert.equal(archive.length % 512, 0)
  const out = await makeToolsDirectory(t)
  execFileSync('tar', ['-xf', '-', '-C', out], { input: archive })
  await rm(join(dir, 'ignored/x'))
  await rm(join(dir, 'manifest.json'))
  execFileSync('diff', ['-r', '--no-dereference', dir, out])
  const listed = execFileSync('tar', ['-tvf', '-', '--numeric-owner', '--utc'], { input: archive }).toString()
  for (const line of listed.trim().split('\n')) assert.match(line, /^[-dl]rw.* 0\/0 .* 1970-01-01 00:00 /)
  assert.match(listed, /^-rwxr-xr-x .* run\.sh$/m)
  assert.match(listed, /^-rw-r--r-- .* empty$/m)
  assert.match(listed, /^drwxr-xr-x .* ignored\/$/m)
})

test('the same content makes the same archive at any time and place', async (t) => {
  const one = await makeToolsDirectory(t)
  const two = await makeToolsDirectory(t)
  for (const tools of [one, two]) await writeTool(tools, 'tool', { 'a/b': 'x' })
  await utimes(join(two, 'tool/a/b'), 1, 1)
  const [first, second] = await Promise.all(
    [one, two].map(async (tools) => buffer(packContext(await findTool(tools)))),
  )
  assert.ok(first && second?.equals(first))
})

test('a folder that has changed since it was hashed is never sent as a whole archive', async (t) => {
  const content = 'x'.repeat(600_000)
  const changes: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
    'other content of the same size': (file) => writeFile(file, content.replace(/x$/, 'y')),
    longer: (file) => appendFile(file, 'x'),
    shorter: (file) => truncate(file, 10),
    gone: (file) => rm(file),
    executable: (file) => chmod(file, 0o755),
    'a directory': (file) => rm(file).then(() => mkdir(file)),
    'a link to the same': (file) => rename(file, `${file}2`).then(() => symlink(`${file}2`, file)),
    'a fifo': (file) => rm(file).then(() => execFileSync('mkfifo', [file])),
    'the folder gone': (file) => rm(join(file, '..'), { recursive: true }),
  }
  for (const [what, change] of Object.entries(changes)) {
    const tools = await makeToolsDirectory(t)
    const dir = await writeTool(tools, 'tool', { 'last/file': content })
    const found = await findTool(tools)
    const whole = await buffer(packContext(found))
    await change(join(dir, 'last/file'))
    let sentBytes = 0
    const stream = packContext(found).on('data', (chunk: Buffer) => (sentBytes += chunk.length))
    const error = await new Promise<unknown>((resolve) =>
      stream.once('error', resolve).once('end', () => resolve('end')),
    )
    assert.ok(error instanceof Error, what)
    assert.equal(error.name, 'ContextChanged', what)
    assert.match(error.message, /^"last(\/file)?" was changed while it was being built/)
    // Neither the last piece of the file nor the end of the archive.
    assert.ok(sentBytes < whole.length - 75_000, `${what}: ${sentBytes} of ${whole.length} bytes`)
  }
})

test('links that lead elsewhere now are not sent either', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'tool')
  await symlink('Dockerfile', join(dir, 'link'))
  const found = await findTool(tools)
  await rm(join(dir, 'link'))
  await symlink('/etc/passwd', join(dir, 'link'))
  await assert.rejects(buffer(packContext(found)), { name: 'ContextChanged' })
})

test(
  'a reader that gives up leaves no file open',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const tools = await makeToolsDirectory(t)
    const dir = await writeTool(tools, 'tool', { big: 'x'.repeat(2_000_000) })
    const stream = packContext(await findTool(tools))
    await new Promise((resolve) => stream.once('readable', resolve))
    stream.destroy()
    await new Promise((resolve) => stream.once('close', resolve))
    assert.deepEqual(
      openFiles().filter((path) => path.startsWith(dir)),
      [],
    )
    assert.equal((await readFile(join(dir, 'big'))).length, 2_000_000)
  },
)

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      // The directory that was just listed is among them, and closed.
      return []
    }
  })
}
