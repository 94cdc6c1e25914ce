import { spawn } from 'node:child_process'
import { closeSync, readFileSync } from 'node:fs'
import { ask } from '../terminal/ask.ts'
import { Failure } from '../terminal/failure.ts'
import { findProgram } from '../machine/find-program.ts'
import { isRoot } from '../machine/is-root.ts'
import type { Progress } from '../terminal/progress.ts'
import { openLogDescriptor } from '../logs/rotating-log.ts'
import { tailLines } from '../logs/tail.ts'

// Debian and Ubuntu packages for what the machine lacks. Only root can install, and a person at a terminal is asked.

export type PackageRequest = {
  packages: readonly string[]
  /** What they are for, as in "the Docker engine". */
  purpose: string
  /** What a person can do instead. */
  otherwise: string
  log: string
}

/** Installs the packages, or throws a Failure that says what to do. */
export async function installPackages(request: PackageRequest, progress: Progress): Promise<void> {
  const { packages, purpose, otherwise, log } = request
  const names = packages.join(' ')
  const apt = isDebianLike() ? findProgram('apt-get') : undefined
  if (apt === undefined) throw new Failure(`${purpose} is missing: install it, or ${otherwise}`)
  if (!isRoot()) {
    throw new Failure(
      `${purpose} is missing: run "sudo apt-get install ${names}" (or ./yard as root), or ${otherwise}`,
    )
  }
  if (!(await isAllowed(`${purpose} is missing. Install ${names} with apt-get?`))) {
    throw new Failure(`${purpose} is missing and was not installed: ${otherwise}`)
  }
  await progress.step(`Installing ${names} (apt-get, log in ${log})`, async () => {
    const wait = ['-o', 'DPkg::Lock::Timeout=300']
    const updated = await run(apt, [...wait, 'update'], log)
    // A mirror that is down for one of several sources need not keep the package away; the installation decides.
    const installed = await run(apt, [...wait, 'install', '-y', '--no-install-recommends', ...packages], log)
    if (installed === 0) return
    const lines = tailLines(log, 15).join('\n')
    throw new Failure(
      `apt-get could not install ${names} (update ended ${updated}, install ended ${installed}): ${otherwise}\n${lines}`,
    )
  })
}

async function isAllowed(question: string): Promise<boolean> {
  const isAttended = process.stdin.isTTY && process.stdout.isTTY && !process.env['CI']
  if (!isAttended) return true
  return /^(y|yes)?$/i.test(await ask(`${question} [Y/n] `))
}

async function run(program: string, args: string[], log: string): Promise<number | null> {
  const output = openLogDescriptor(log)
  // A daemon that a package brings is not started in our name: invoke-rc.d starts nothing in run level 1.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', NEEDRESTART_MODE: 'l' }
  const child = spawn(program, args, { env, stdio: ['ignore', output, output] })
  closeSync(output)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

function isDebianLike(): boolean {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    // safe to ignore because a system that does not say what it is gets the general advice
    return false
  }
}
