import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'

// The real ./yard and npm in a checkout of the same shape that needs no network: what it installs lies beside it.

const yard = join(import.meta.dirname, '../../yard')

test('everything is installed whatever npm was told elsewhere, and a checkout may be moved', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, '.npmrc'), 'omit[]=dev\nomit[]=optional\n')
  const root = checkout(folder)
  const environment = [`HOME=${folder}`, 'NODE_ENV=production']
  const first = run([...environment, join(root, 'yard')])
  assert.match(first.stderr, /Installing dependencies .* done/)
  assert.equal(first.stdout, `${process.execPath} ${root}\n`)
  for (const name of ['development', 'optional'])
    assert.ok(existsSync(join(root, 'node_modules', name)), name)

  const moved = join(folder, 'elsewhere')
  renameSync(root, moved)
  assert.deepEqual(run([...environment, join(moved, 'yard')]), {
    stdout: `${process.execPath} ${moved}\n`,
    stderr: '',
  })
  assert.equal(readlinkSync(join(moved, 'node_modules/.yard-node')), '.bin/node')

  rmSync(join(moved, 'node_modules/.bin/node'))
  assert.match(
    run([...environment, join(moved, 'yard')]).stderr,
    /Installing dependencies/,
    'a Node that is gone is installed again',
  )
})

test('on another system one line says that Linux is needed', (t) => {
  const folder = temporaryFolder(t)
  const root = checkout(folder)
  writeFileSync(join(folder, 'uname'), '#!/bin/sh\necho Darwin\n', { mode: 0o755 })
  const { stdout, stderr } = run(['sh', '-c', 'PATH="$0:$PATH" exec "$1"', folder, join(root, 'yard')])
  assert.deepEqual([stdout, stderr.split('\n').length], ['', 2])
  assert.match(stderr, /^yard: Toolyard runs on Linux, this is Darwin/)
  assert.ok(!existsSync(join(root, 'node_modules')))
})

function checkout(folder: string): string {
  const root = join(folder, 'check out')
  mkdirSync(join(root, 'scripts'), { recursive: true })
  copyFileSync(yard, join(root, 'yard'))
  writeFileSync(
    join(root, 'scripts/yard.ts'),
    "import { join } from 'node:path'\nconsole.log(process.execPath, join(import.meta.dirname, '..'))\n",
  )
  writePackage(join(root, 'development'), { name: 'development' })
  writePackage(join(root, 'optional'), { name: 'optional', bin: { node: './node' } })
  symlinkSync(process.execPath, join(root, 'optional/node'))
  writePackage(root, {
    name: 'checkout',
    devDependencies: { development: 'file:development' },
    optionalDependencies: { optional: 'file:optional' },
  })
  execFileSync('npm', ['install', '--package-lock-only', '--offline'], { cwd: root, stdio: 'pipe' })
  return root
}

function writePackage(folder: string, manifest: Record<string, unknown>): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ version: '1.0.0', type: 'module', ...manifest }),
  )
}

function run(words: string[]): { stdout: string; stderr: string } {
  const { stdout, stderr } = spawnSync('env', words, { encoding: 'utf8' })
  return { stdout, stderr }
}
