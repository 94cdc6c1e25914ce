import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { projectRoot } from '../services/installation/installation.ts'

// All faults of all checks at once, each check's together; a check that finds nothing says nothing.
const flags = ['--continue=always', '--output-logs=errors-only', '--log-order=grouped', '--log-prefix=none']

/** Every check that needs no service, as turbo.json lists them. */
export async function verify(args: string[]): Promise<number> {
  const programs = join(projectRoot, 'node_modules/.bin')
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` }
  const child = spawn(join(programs, 'turbo'), ['run', 'verify', ...flags, ...args], {
    cwd: projectRoot,
    env,
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
