import type { Manifest } from '@toolyard/contract/manifest'

/** One thing of a build context, as it is sent: times and owners are nobody's business. Paths have no leading slash. */
export type ContextEntry =
  | { type: 'file'; path: string; executable: boolean; size: number; digest: string }
  | { type: 'directory'; path: string }
  | { type: 'link'; path: string; target: string }

export type FoundTool = {
  name: string
  dir: string
  manifest: Manifest
  /** Names everything an image is made from. */
  hash: string
  /** The build context, sorted by path, a directory before what is in it. */
  entries: readonly ContextEntry[]
}

/** `file` is a path below the folder, or `.` for the folder itself. */
export type FileFault = { file: string; pointer?: string; line?: number; column?: number; detail: string }

/** Without `folder` it is a whole directory of tools that could not be read. */
export type FolderFault = { folder?: string; dir: string; faults: readonly FileFault[] }
