import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = import.meta.dirname

export const warnings = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Werror']

/** A sanitizer cannot be linked statically; such a build is for tests and needs the host's libraries beside it. */
export const sanitizers = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']

const release = [
  '-O2',
  '-static',
  '-s',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-Wl,--build-id=none',
]

export type BuildOptions = { readonly cc?: string; readonly sanitize?: boolean }
export type InitBuild = { readonly key: string; readonly compiled: boolean }

/**
 * Compiles the init to `outputPath` unless the file there was made from the same sources by the same command. The key
 * stands in the file itself, so file and key can never disagree.
 */
export async function buildInit(outputPath: string, options: BuildOptions = {}): Promise<InitBuild> {
  const cc = options.cc ?? 'cc'
  const flags = [...warnings, ...(options.sanitize === true ? sanitizers : release)]
  const sources = await listSources()
  const key = await keyOf(sources, [cc, process.arch, ...flags])
  if (await wasBuiltFrom(outputPath, key)) return { key, compiled: false }
  const modules = sources.filter((name) => name.endsWith('.c'))
  await compile(cc, [...flags, `-DTOOLYARD_INIT_KEY="${key}"`, ...modules], resolve(outputPath))
  return { key, compiled: true }
}

/** Names the sources, whatever compiler and machine they meet: part of what an image of a tool is. */
export async function initIdentity(): Promise<string> {
  return keyOf(await listSources(), [])
}

const listSources = async () => (await readdir(folder)).filter((name) => /\.[ch]$/.test(name)).toSorted()

/** Runs the compiler inside the sources' folder and puts its result in place at once. */
export async function compile(cc: string, words: readonly string[], outputPath: string): Promise<void> {
  const unfinished = `${outputPath}.${randomUUID()}.tmp`
  await mkdir(dirname(outputPath), { recursive: true })
  try {
    await run(cc, [...words, '-o', unfinished], { cwd: folder })
    await rename(unfinished, outputPath)
  } catch (error) {
    throw explain(error, cc)
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function keyOf(sources: readonly string[], command: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(command))
  for (const name of sources) {
    const text = await readFile(join(folder, name))
    hash.update(`\0${name}\0${text.length}\0`).update(text)
  }
  return hash.digest('hex')
}

async function wasBuiltFrom(path: string, key: string): Promise<boolean> {
  try {
    return (await readFile(path)).includes(`toolyard-init-key=${key};`)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function explain(error: unknown, cc: string): Error {
  if (codeOf(error) === 'ENOENT')
    return new Error(
      `there is no C compiler "${cc}": install one, on Debian with "apt-get install gcc libc6-dev", on Alpine with "apk add gcc musl-dev linux-headers"`,
      { cause: error },
    )
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
  return new Error(`the init could not be compiled by "${cc}":\n${output}`, { cause: error })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

if (import.meta.main) {
  const [outputPath, cc] = process.argv.slice(2)
  if (outputPath === undefined) {
    process.stderr.write('usage: node build.ts OUTPUT [CC]\n')
    process.exitCode = 2
  } else {
    const { key, compiled } = await buildInit(outputPath, cc === undefined ? {} : { cc })
    process.stdout.write(`${compiled ? 'compiled' : 'unchanged'} ${outputPath} ${key}\n`)
  }
}
