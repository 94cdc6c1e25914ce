import { spawn } from 'node:child_process'
import { Failure } from '../services/terminal/failure.ts'
import { findProgram } from '../services/machine/find-program.ts'

const timeoutMs = 10_000

/** What the program prints. A program that is missing or fails is a Failure with what it says itself. */
export async function runProgram(name: string, args: readonly string[], input = ''): Promise<string> {
  const ended = await tryProgram(name, args, input)
  if (ended.code === 0) return ended.stdout
  throw new Failure(`${name} ${args.join(' ')} failed: ${ended.stderr.trim() || `exit status ${ended.code}`}`)
}

export async function tryProgram(
  name: string,
  args: readonly string[],
  input = '',
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const path = findProgram(name)
  if (path === undefined) throw new Failure(`${name} is not installed`)
  const child = spawn(path, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' })
  const ended = Promise.withResolvers<number | null>()
  child.once('error', ended.reject)
  child.once('close', ended.resolve)
  // A program that ends without reading its input is judged by its exit status.
  child.stdin.once('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    ended.promise,
  ])
  return { code, stdout, stderr }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
