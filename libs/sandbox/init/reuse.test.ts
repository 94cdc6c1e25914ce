import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { access, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildInit } from './build.ts'
import { frame } from './testing/frames.ts'
import { createYard, finished, type Sandbox, type SandboxOptions, type Yard } from './testing/sandbox.ts'

let yard: Yard
before(async () => {
  yard = await createYard()
})
after(async () => {
  await yard?.remove()
})

async function open(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = yard.start(options)
  await sandbox.expect('H')
  return sandbox
}

/** Runs once and tells what the init said about its cleanliness. */
async function judge(
  sandbox: Sandbox,
  payload: string,
  directories: readonly string[] = [],
): Promise<string> {
  const run = finished(await sandbox.run({ payload, reuse: true, directories }))
  assert.deepEqual([run.verdict, run.code], ['exited', 0], payload)
  const { kind, body } = await sandbox.next()
  if (kind === 'A') return `clean ${body.readUInt32LE(4)}`
  assert.equal(kind, 'N')
  assert.equal(await sandbox.ended, 74)
  return body.toString()
}

const leftovers: Record<string, number> = {
  nothing: 0,
  deep: 20_001,
  many: 30_000,
  unreadable: 3,
  links: 6,
  names: 7,
  shm: 1,
  sysv: 4,
  queue: 1,
}

for (const [what, count] of Object.entries(leftovers))
  test(`the next caller finds nothing of: ${what}`, async () => {
    const sandbox = await open()
    assert.equal(await judge(sandbox, `litter ${what}`), `clean ${count}`)
    const look = finished(await sandbox.run({ payload: 'look', reuse: true }))
    assert.equal(look.out.toString(), '')
  })

test('what a scrubbed link pointed to is untouched', async () => {
  const kept = join(yard.root, 'data/kept')
  await writeFile(kept, 'kept')
  try {
    assert.equal(await judge(await open(), 'litter links'), 'clean 6')
    assert.equal(await readFile(kept, 'utf8'), 'kept')
  } finally {
    await rm(kept)
  }
})

test('a litter is seen by the next caller where nothing is scrubbed: the looking is not blind', async () => {
  const sandbox = await open({ words: ['/bin/tool'] })
  finished(await sandbox.run({ payload: 'litter names', reuse: false }))
  assert.equal(await sandbox.close(), 0)
  const both = await open()
  const run = finished(await both.run({ payload: 'litterlook', reuse: true }))
  assert.deepEqual(run.out.toString().trim().split('\n').toSorted(), [
    '/dev/mqueue/queue',
    '/dev/shm/segment',
    '/tmp/no',
    'System V',
  ])
  await both.expect('A')
})

test('a listed volume is emptied and its mode put back; an unlisted one makes the sandbox unusable', async () => {
  const room = { VOLUMES: 'data' }
  const sandbox = await open({ room })
  assert.equal(await judge(sandbox, 'litter volume', ['/data']), 'clean 1')
  assert.equal(await judge(sandbox, 'litter volume', ['/data']), 'clean 1')
  assert.equal(await judge(await open({ room }), 'litter nothing'), '/data is writable and not swept')
})

test('a volume of the tool itself gets its mode back, and no attribute of it survives', async () => {
  const room = { VOLUMES: 'data', VOLUME_OPTIONS: 'mode=751,uid=12345' }
  const sandbox = await open({ room })
  assert.equal(await judge(sandbox, 'litter attribute', ['/data']), 'clean 1')
  const run = finished(await sandbox.run({ payload: 'mode /data', reuse: true, directories: ['/data'] }))
  assert.equal(run.out.toString(), '751')
  await sandbox.expect('A')
  sandbox.request({ payload: 'litter xattr', reuse: true, directories: ['/data'] })
  const outcome = finished(await sandbox.outcome())
  const { kind, body } = await sandbox.next()
  // a kernel whose tmpfs knows no such attributes refuses the tool already
  assert.ok(outcome.code === 0 ? kind === 'N' && body.toString() === '/data is not as it was' : kind === 'A')
})

test('the runtime may keep a mount of its own writable, but not for the tool', async () => {
  const room = { VOLUMES: 'sys/fs/cgroup' }
  assert.equal(
    await judge(await open({ room }), 'litter nothing'),
    '/sys/fs/cgroup is writable and not swept',
  )
  assert.equal(
    await judge(await open({ room: { ...room, VOLUME_OPTIONS: 'mode=755' } }), 'litter nothing'),
    'clean 0',
  )
})

test('a directory that was not empty before the first run makes the sandbox unusable', async () => {
  await writeFile(join(yard.root, 'data/from-the-image'), '')
  try {
    assert.equal(await judge(await open(), 'litter nothing', ['/data']), '/data was not empty before the run')
  } finally {
    await rm(join(yard.root, 'data/from-the-image'))
  }
})

test('no reuse on a writable root, for uid 0, or where message queues cannot be listed', async () => {
  assert.equal(
    await judge(await open({ room: { WRITABLE_ROOT: 'yes' } }), 'litter nothing'),
    '/ is writable and not swept',
  )
  assert.match(await judge(await open({ uid: 0 }), 'litter nothing'), /runs as root/)
  assert.match(
    await judge(await open({ room: { WITHOUT_QUEUES: 'yes' } }), 'litter queue'),
    /message queues cannot be listed/,
  )
})

// Not every root may change the limits of others: their own user may always lower them.
const asTheTool = ['setpriv', '--reuid', '12345', '--regid', '12345', '--clear-groups'] as const

const meddling: Record<string, (pid: string) => [program: string, ...words: string[]]> = {
  rlimit: (pid) => [...asTheTool, 'prlimit', '--pid', pid, '--nofile=64:64'],
  nice: (pid) => ['renice', '-n', '5', '-p', pid],
  scheduler: (pid) => ['chrt', '--idle', '--pid', '0', pid],
  'io priority': (pid) => ['ionice', '-c', '2', '-n', '7', '-p', pid],
  ...(cpus().length > 1 ? { affinity: (pid) => ['taskset', '--pid', '1', pid] } : {}),
}

for (const [what, command] of Object.entries(meddling))
  test(`the ${what} of the init, once changed from anywhere, ends the reuse`, async () => {
    const sandbox = await open()
    sandbox.request({ payload: 'wait politely', reuse: true })
    await sandbox.expect('S')
    await sandbox.expect('O')
    const [program, ...words] = command(String(await sandbox.hostPid()))
    execFileSync(program, words)
    sandbox.send(frame('C'))
    assert.equal(finished(await sandbox.outcome()).verdict, 'cancelled')
    assert.equal(
      (await sandbox.expect('N')).toString(),
      'the limits or the scheduling of the init were changed',
    )
    assert.equal(await sandbox.ended, 74)
  })

test('a start that failed leaves a clean sandbox', async () => {
  const sandbox = await open({ words: ['/bin/none'] })
  for (let turn = 0; turn < 3; turn++) {
    assert.ok('failure' in (await sandbox.run({ reuse: true })))
    await sandbox.expect('A')
  }
})

test('a run without reuse after one with it is the last', async () => {
  const sandbox = await open()
  assert.equal(await judge(sandbox, 'leave 0'), 'clean 0')
  finished(await sandbox.run({ payload: 'leave 0' }))
  assert.equal(await sandbox.close(), 0)
})

test('descriptors do not add up over the runs', async () => {
  const sandbox = await open({ words: ['/bin/tool'] })
  const pid = await sandbox.hostPid()
  const atFirst = await readdir(`/proc/${pid}/fd`)
  for (const payload of ['litter deep', 'wait closed', 'pour o -1', 'daemons 3']) {
    finished(await sandbox.run({ payload, reuse: true, deadlineMs: 300, silenceMs: 8000 }))
    await sandbox.expect('A')
  }
  assert.deepEqual(await readdir(`/proc/${pid}/fd`), atFirst)
})

test('the init is compiled once for the same sources, and a missing compiler names the mend', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolyard-build-'))
  try {
    const path = join(folder, 'deeper/init')
    const first = await buildInit(path)
    assert.equal(first.compiled, true)
    assert.deepEqual(await buildInit(path), { key: first.key, compiled: false })
    await writeFile(path, 'something else')
    assert.equal((await buildInit(path)).compiled, true)
    await access(path, 1)
    await assert.rejects(
      buildInit(join(folder, 'other'), { cc: 'no-such-cc' }),
      /no C compiler "no-such-cc": install one, on Debian with "apt-get install gcc/,
    )
    await assert.rejects(
      buildInit(join(folder, 'other'), { cc: 'false' }),
      /could not be compiled by "false"/,
    )
    assert.deepEqual(await readdir(folder), ['deeper'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
