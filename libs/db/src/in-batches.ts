const turnMsDefault = 5_000

/**
 * Calls `work` until it finds fewer rows than it may take. Each call is a small transaction, so that no lock lasts and
 * no statement is long; what is left when the time of a turn is over is for the next one. Answers how many rows.
 */
export async function inBatches(
  rowsMax: number,
  work: (rowsMax: number) => Promise<number>,
  turnMs = turnMsDefault,
): Promise<number> {
  const beganAtMs = performance.now()
  let total = 0
  for (;;) {
    const count = await work(rowsMax)
    total += count
    if (count < rowsMax || performance.now() - beganAtMs >= turnMs) return total
  }
}
