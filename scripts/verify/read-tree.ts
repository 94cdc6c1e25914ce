import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The repository as the checks see it: each file's path from the root, with `/`, and its text ('' where it is binary). */
export type Tree = ReadonlyMap<string, string>

const textMaxBytes = 4_000_000

/** Reads every file that git would not ignore. Asks no git, so that an archive without history can be checked too. */
export function readTree(root: string): Tree {
  const tree = new Map<string, string>()
  const ignored = ignoredNames(readFileSync(join(root, '.gitignore'), 'utf8'))
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (ignored.has(entry.name)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile()) tree.set(path, readText(join(root, path)))
    }
  }
  walk('')
  return tree
}

/** The plain names of an ignore file. A pattern would be missed, so one is refused instead of half understood. */
export function ignoredNames(ignoreFile: string): ReadonlySet<string> {
  const names = ignoreFile
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/\/$/, ''))
  const pattern = names.find((name) => /[*?[\]!/\\]/.test(name))
  if (pattern !== undefined) {
    throw new Error(
      `.gitignore: "${pattern}" is a pattern, and scripts/verify reads plain names only: list names, or teach it`,
    )
  }
  return new Set([...names, '.git'])
}

function readText(file: string): string {
  const bytes = readFileSync(file)
  return bytes.length > textMaxBytes || bytes.includes(0) ? '' : bytes.toString('utf8')
}
