import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, chmod, mkdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { describeFault } from './describe-fault.ts'
import { makeToolsDirectory, manifestOf, writeTool } from './fixtures/tool-folders.ts'
import type { Scan } from './scan-tools.ts'
import { scanTools } from './scan-tools.ts'

const scan = (...dirs: string[]) => scanTools(dirs, { extra: [], settleMs: 20 })

/** As an operator reads them, without the place of this test. */
const faultsOf = (found: Scan, tools: string) =>
  found.faults.flatMap(({ dir, faults }) =>
    faults.map((fault) => describeFault(dir, fault).replaceAll(tools, 'tools')),
  )

const namesOf = (found: Scan) => found.tools.map(({ name }) => name)

test('tools are found by name, and what is no tool is passed over', async (t) => {
  const tools = await makeToolsDirectory(t)
  for (const name of ['zeta', 'alpha', '_base', '.git']) await writeTool(tools, name)
  await writeFile(join(tools, 'README.md'), 'x')
  execFileSync('mkfifo', [join(tools, 'fifo')])
  const found = await scan(tools)
  assert.deepEqual(found.faults, [])
  assert.deepEqual(namesOf(found), ['alpha', 'zeta'])
  assert.equal(found.tools[0]?.manifest.constraints.timeout_seconds, 9)
  assert.match(found.tools[0]?.hash ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual((await scan(tools)).contentHash, found.contentHash)
})

test('all faults of all folders come together, and the good tools with them', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'good')
  await writeTool(tools, 'shape', { 'manifest.json': manifestOf('shape', { trigger: {}, returnz: 1 }) })
  await writeTool(tools, 'syntax', { 'manifest.json': '{\n  "name": "syntax",\n}', '.dockerignore': '[\n' })
  await writeTool(tools, 'twice', { 'manifest.json': '{"name": "twice",\n"name": "twice"}' })
  await writeTool(tools, 'renamed', { 'manifest.json': manifestOf('other') })
  await writeTool(tools, 'both', { 'manifest.json': 'null', Dockerfile: '' })
  await mkdir(join(tools, 'empty'))
  await symlink('nowhere', join(tools, 'dangling'))
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), ['good'])
  assert.deepEqual(faultsOf(found, tools), [
    'tools/both/manifest.json:1: must be an object',
    'tools/both/Dockerfile: is empty',
    'tools/dangling: is a link that leads nowhere: it does not exist',
    'tools/empty/manifest.json: is missing',
    'tools/empty/Dockerfile: is missing',
    'tools/renamed/manifest.json:1 /name: must be "renamed", as the folder is called',
    'tools/shape/manifest.json:1 /returnz: "returnz" is not known here: did you mean "returns"?',
    'tools/shape/manifest.json:1 /trigger/type: is required',
    'tools/syntax/manifest.json:3:1: expected a key in double quotes, found "}"',
    'tools/syntax/.dockerignore:1: "[" is not a pattern',
    'tools/twice/manifest.json:2:1 /name: is there twice: remove one of them',
  ])
})

test('a missing directory is a fault of its own and takes no tool along', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'good')
  const found = await scan(join(tools, 'nope'), tools, join(tools, 'good', 'Dockerfile'))
  assert.deepEqual(namesOf(found), ['good'])
  assert.deepEqual(
    found.faults.map(({ folder }) => folder),
    [undefined, undefined],
  )
  assert.deepEqual(faultsOf(found, tools), [
    'tools/good/Dockerfile: a directory of tools that cannot be read: it is not a directory',
    'tools/nope: a directory of tools that cannot be read: it does not exist',
  ])
})

test('two folders of one name are both refused and name each other, also when one is broken', async (t) => {
  const one = await makeToolsDirectory(t)
  const two = await makeToolsDirectory(t)
  await writeTool(one, 'twin')
  await writeTool(two, 'twin')
  await writeTool(two, 'single')
  const found = await scan(one, two, `${one}/`, join(one, '.'))
  assert.deepEqual(namesOf(found), ['single'])
  assert.deepEqual(
    found.faults.flatMap(({ dir, faults }) => faults.map(({ detail }) => `${dir}: ${detail}`)).sort(),
    [
      `${join(one, 'twin')}: there is a second tool of this name in ${join(two, 'twin')}: rename one of them`,
      `${join(two, 'twin')}: there is a second tool of this name in ${join(one, 'twin')}: rename one of them`,
    ].sort(),
  )
  await rm(join(two, 'twin', 'Dockerfile'))
  assert.equal((await scan(one, two)).faults.length, 2)
})

test('a fifo, a socket, a device or a directory in the place of a file is a fault and blocks nobody', async (t) => {
  const tools = await makeToolsDirectory(t)
  for (const file of ['manifest.json', 'Dockerfile', '.dockerignore', 'other']) {
    const dir = await writeTool(tools, `fifo-${file.replaceAll('.', '')}`.toLowerCase())
    await rm(join(dir, file), { force: true })
    execFileSync('mkfifo', [join(dir, file)])
  }
  const socketDir = await writeTool(tools, 'socket')
  const server = createServer().listen(join(socketDir, 's'))
  t.after(() => server.close())
  const linked = await writeTool(tools, 'linked')
  await rename(join(linked, 'manifest.json'), join(linked, 'm'))
  await symlink('m', join(linked, 'manifest.json'))
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), [])
  const other = 'is neither a file nor a directory nor a link: remove it'
  assert.deepEqual(faultsOf(found, tools), [
    'tools/fifo-dockerfile/Dockerfile: ' + other,
    'tools/fifo-dockerignore/.dockerignore: must be a regular file',
    'tools/fifo-dockerignore/.dockerignore: ' + other,
    'tools/fifo-manifestjson/manifest.json: must be a regular file',
    'tools/fifo-manifestjson/manifest.json: ' + other,
    'tools/fifo-other/other: ' + other,
    'tools/linked/manifest.json: must be a regular file',
    'tools/socket/s: ' + other,
  ])
})

test('links stay links, and those that lead out are faults', async (t) => {
  const tools = await makeToolsDirectory(t)
  const good = await writeTool(tools, 'good', { 'd/e/f': 'x' })
  await symlink('../f', join(good, 'd/e/up'))
  await symlink('loop', join(good, 'loop'))
  await symlink('.', join(good, 'self'))
  const bad = await writeTool(tools, 'bad', { 'd/f': 'x', 'ignored/x': 'x', '.dockerignore': 'ignored\n' })
  await symlink('../../x', join(bad, 'd/out'))
  await symlink('/etc/passwd', join(bad, 'absolute'))
  await symlink('/', join(bad, 'ignored/root'))
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), ['good'])
  assert.deepEqual(
    found.tools[0]?.entries.filter(({ type }) => type === 'link'),
    [
      { type: 'link', path: 'd/e/up', target: '../f' },
      { type: 'link', path: 'loop', target: 'loop' },
      { type: 'link', path: 'self', target: '.' },
    ],
  )
  assert.deepEqual(faultsOf(found, tools), [
    'tools/bad/absolute: is a link to "/etc/passwd", outside the folder: put a copy in its place',
    'tools/bad/d/out: is a link to "../../x", outside the folder: put a copy in its place',
  ])
})

test('a tool may be a link to a folder elsewhere', async (t) => {
  const tools = await makeToolsDirectory(t)
  const elsewhere = await makeToolsDirectory(t)
  await symlink(await writeTool(elsewhere, 'mine'), join(tools, 'mine'))
  await symlink(join(elsewhere, 'mine/Dockerfile'), join(tools, 'file'))
  const found = await scan(tools)
  assert.deepEqual(found.faults, [])
  assert.equal(found.tools[0]?.hash, (await scan(elsewhere)).tools[0]?.hash)
})

test('sizes have limits that are told: a manifest, the bytes and the number of a context', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'wordy', { 'manifest.json': ' '.repeat(10 * 1_048_576) })
  for (const name of ['large', 'ignored']) {
    const dir = await writeTool(tools, name, { '.dockerignore': name === 'ignored' ? 'big\n' : '' })
    await writeFile(join(dir, 'big'), '')
    await truncate(join(dir, 'big'), 64 * 1_048_576)
  }
  const many = await writeTool(tools, 'many')
  await mkdir(join(many, 'd'))
  for (let i = 0; i < 10_001; i++) await writeFile(join(many, 'd', String(i)), '')
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), ['ignored'])
  assert.deepEqual(faultsOf(found, tools), [
    'tools/large: holds more than 64 MiB: name in .dockerignore what the image does not need',
    'tools/many: holds more than 10000 files: name in .dockerignore what the image does not need',
    'tools/wordy/manifest.json: has 10485760 bytes: at most 262144 are allowed',
  ])
})

test('hostile names are told in one line that steers no terminal', async (t) => {
  const tools = await makeToolsDirectory(t)
  const names = [
    'new\nline',
    '\u001b[31mred',
    '..hidden',
    '...',
    'ümlaut',
    'right\u202eleft',
    'Upper',
    '-rf',
    'a b',
  ]
  for (const name of names) await writeTool(tools, name)
  await writeTool(tools, 'inner', { 'a\nb/\u001b]0;x': 'x' })
  execFileSync('bash', ['-c', `mkdir "$0"/$'\\xff' && touch "$0"/inner/$'\\xfe'`, tools])
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), [])
  const told = faultsOf(found, tools)
  assert.equal(told.length, 9)
  for (const line of told) assert.doesNotMatch(line, /[\p{Cc}\u202e]/u)
  assert.ok(told.includes('tools/inner/\uFFFD: its name is not UTF-8'))
  assert.ok(told.includes('tools/\uFFFD: its name is not UTF-8'))
  assert.match(told.join('\n'), /^tools\/new\\u\{a\}line\/manifest\.json:1 \/name: lower-case letters/m)
})

test('folders nested very deep are read, and those too deep for the system are a fault', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'deep', { [`${'d/'.repeat(900)}f`]: 'x' })
  await writeTool(tools, 'abyss')
  execFileSync('bash', [
    '-c',
    'cd "$0/abyss" && for i in $(seq 40); do n=$(printf x%.0s {1..200}); mkdir $n && cd -P $n; done',
    tools,
  ])
  const found = await scan(tools)
  assert.deepEqual(namesOf(found), ['deep'])
  assert.match(faultsOf(found, tools).join('\n'), /^tools\/abyss\/x.*$/)
  execFileSync('rm', ['-rf', join(tools, 'abyss')])
})

test('what may not be read is a fault of that folder alone', async (t) => {
  const tools = await makeToolsDirectory(t)
  await chmod(tools, 0o755)
  await writeTool(tools, 'good', { 'secret/x': 'x', '.dockerignore': 'secret\n' })
  await chmod(join(tools, 'good/secret'), 0)
  await writeTool(tools, 'locked')
  await chmod(join(tools, 'locked'), 0)
  for (const path of ['manifest.json', 'Dockerfile', 'lib/code', '.dockerignore', 'sub/x']) {
    const dir = await writeTool(tools, `no-${path.replaceAll(/[./]/g, '')}`.toLowerCase(), {
      [path]: manifestOf('x'),
    })
    await chmod(path === 'sub/x' ? join(dir, 'sub') : join(dir, path), 0)
  }
  const wasRoot = process.geteuid?.() === 0
  if (wasRoot) process.seteuid?.(65_534)
  const found = await scan(tools).finally(() => wasRoot && process.seteuid?.(0))
  assert.deepEqual(namesOf(found), ['good'])
  const why = 'cannot be read: permission denied: it must be readable by the user that runs Toolyard'
  assert.deepEqual(faultsOf(found, tools), [
    `tools/locked: ${why}`,
    `tools/no-dockerfile/Dockerfile: ${why}`,
    `tools/no-dockerignore/.dockerignore: ${why}`,
    `tools/no-libcode/lib/code: ${why}`,
    `tools/no-manifestjson/manifest.json: ${why}`,
    `tools/no-subx/sub: ${why}`,
  ])
  execFileSync('chmod', ['-R', 'u+rwx', tools])
})

test('a folder that is being written is unsettled, not a tool, and is taken as soon as it rests', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'good')
  const dir = await writeTool(tools, 'busy', { 'a/b': 'x' })
  const stop = new AbortController()
  let writeCount = 0
  const writing = (async () => {
    while (!stop.signal.aborted) {
      await appendFile(join(dir, 'a/b'), 'y')
      writeCount += 1
    }
  })()
  try {
    await waitUntil('the first writes', () => writeCount > 5)
    const found = await scanTools([tools], { extra: [], settleMs: 20, patienceMs: 100 })
    assert.deepEqual(namesOf(found), ['good'])
    assert.deepEqual(found.faults, [])
    assert.deepEqual(found.unsettled, [{ name: 'busy', dir }])
    // Also where nothing is known of the clock, by what changed while it was read.
    const blind = await scanTools([tools], { extra: [], settleMs: 0, patienceMs: 0 })
    assert.deepEqual([...namesOf(blind), ...blind.unsettled.map(({ name }) => name)].sort(), ['busy', 'good'])
  } finally {
    stop.abort()
    await writing
  }
  const after = await scan(tools)
  assert.deepEqual(namesOf(after), ['busy', 'good'])
  assert.deepEqual(after.unsettled, [])
})

test('a half-copied folder with times of long ago is not taken', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'copied')
  for (const file of ['manifest.json', 'Dockerfile', '.']) await utimes(join(dir, file), 1, 1)
  const found = await scanTools([tools], { extra: [], settleMs: 60_000, patienceMs: 0 })
  assert.deepEqual(found.unsettled, [{ name: 'copied', dir }])
})

test('a folder that goes while it is waited for is gone', async (t) => {
  const tools = await makeToolsDirectory(t)
  const dir = await writeTool(tools, 'fleeting')
  const scanning = scanTools([tools], { extra: [], settleMs: 300, patienceMs: 5_000 })
  await rename(dir, join(await makeToolsDirectory(t), 'x'))
  const found = await scanning
  assert.deepEqual([found.tools, found.faults, found.unsettled], [[], [], []])
})

test('a scan that is given up ends at once', async (t) => {
  const tools = await makeToolsDirectory(t)
  await writeTool(tools, 'new')
  const stop = new AbortController()
  const scanning = scanTools([tools], {
    extra: [],
    settleMs: 60_000,
    patienceMs: 60_000,
    signal: stop.signal,
  })
  stop.abort()
  await assert.rejects(scanning, { name: 'AbortError' })
})
