const waitMaxSeconds = 60

/**
 * How long a caller wishes to wait for the end, by `Prefer: wait=N`. A preference is never a fault: what cannot be
 * read is no wish, which leaves it at `unsaidMs`, and what is longer than we wait is shortened.
 */
export function preferredWaitMs(header: string | undefined, unsaidMs: number): number {
  const wish = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i.exec(header ?? '')
  return wish === null ? unsaidMs : Math.min(Number(wish[1]), waitMaxSeconds) * 1_000
}
