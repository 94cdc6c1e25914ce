import { z } from 'zod'
import type { Fault } from './fault.ts'
import type { Tree } from './read-tree.ts'

export type Package = {
  kind: 'app' | 'lib' | 'root'
  /** `libs/db`; `scripts` and `test`, which the root's package.json speaks for, are packages here too. */
  folder: string
  /** `db`. */
  short: string
  /** What may be imported anywhere in it. */
  dependencies: ReadonlySet<string>
  /** What its development files may import besides. */
  devDependencies: ReadonlySet<string>
  /** The files that other packages may import, as `./src/pool.ts`; undefined without an exports map. */
  exports: readonly string[] | undefined
}

export const scope = '@toolyard/'

const names = z.record(z.string(), z.string()).default({})

const manifest = z.object({
  name: z.string(),
  dependencies: names,
  peerDependencies: names,
  optionalDependencies: names,
  devDependencies: names,
  exports: z.record(z.string(), z.string()).optional(),
})

/** Reads each package.json. A folder without a readable one, or with another name than its folder's, is a fault. */
export function readPackages(tree: Tree): { packages: Package[]; faults: Fault[] } {
  const packages: Package[] = []
  const faults: Fault[] = []
  const folders = new Set([...tree.keys()].map((path) => /^(?:libs|apps)\/[^/]+(?=\/)/.exec(path)?.[0] ?? ''))
  folders.delete('')
  for (const folder of [...folders, 'scripts', 'test'].toSorted()) {
    const kind = folder.startsWith('libs/') ? 'lib' : folder.startsWith('apps/') ? 'app' : 'root'
    const path = kind === 'root' ? 'package.json' : `${folder}/package.json`
    const read = readManifest(tree.get(path))
    const short = folder.slice(folder.indexOf('/') + 1)
    if (read === undefined) {
      faults.push({
        path,
        line: 1,
        rule: 'package',
        message: `is missing or unreadable: every folder in apps/ and libs/ is a workspace`,
      })
    } else if (kind !== 'root' && read.name !== `${scope}${short}`) {
      faults.push({
        path,
        line: 1,
        rule: 'package',
        message: `is named "${read.name}": name it "${scope}${short}" like its folder`,
      })
    }
    packages.push({ kind, folder, short, ...declared(read) })
  }
  return { packages, faults }
}

type Manifest = z.infer<typeof manifest>

function readManifest(source: string | undefined): Manifest | undefined {
  if (source === undefined) return undefined
  try {
    return manifest.parse(JSON.parse(source))
  } catch {
    // The caller reports the file; what exactly is wrong with it, npm says better.
    return undefined
  }
}

function declared(read: Manifest | undefined): Pick<Package, 'dependencies' | 'devDependencies' | 'exports'> {
  const {
    dependencies = {},
    peerDependencies = {},
    optionalDependencies = {},
    devDependencies = {},
  } = read ?? {}
  return {
    dependencies: new Set(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })),
    devDependencies: new Set(Object.keys(devDependencies)),
    exports: read?.exports && Object.values(read.exports),
  }
}
