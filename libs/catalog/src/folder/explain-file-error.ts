const words: Readonly<Record<string, string>> = {
  EACCES: 'permission denied: it must be readable by the user that runs Toolyard',
  EPERM: 'permission denied: it must be readable by the user that runs Toolyard',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'symbolic links lead in a circle',
  EIO: 'the disk does not give it back',
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a directory',
}

/** Why a file cannot be read, in words for its author. */
export function explainFileError(error: unknown): string {
  const code = fileErrorCode(error)
  if (code !== undefined) return words[code] ?? code
  return error instanceof Error ? error.message : String(error)
}

export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What was listed a moment ago and is not there now, or is something else. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(fileErrorCode(error) ?? '')
}

/** Not the file's fault: this process or its machine has run out of something. */
export function isOwnTrouble(error: unknown): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM'].includes(fileErrorCode(error) ?? '')
}
