import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { projectRoot } from '../services/installation.ts'

/** Every check that needs no service, as turbo.json lists them. */
export async function verify(args: string[]): Promise<number> {
  const programs = join(projectRoot, 'node_modules/.bin')
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` }
  const child = spawn(join(programs, 'turbo'), ['run', 'verify', ...args], {
    cwd: projectRoot,
    env,
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
