import { AppError } from './errors.ts'

// Lists of any length come in pages: a cursor is what the last row of the page before is found by.

export type PageRequest = { cursor?: string | undefined; limit?: number | undefined }

/** Rows of a page. */
export const pageLimit = { default: 50, max: 200 } as const

/** Of which `limit` are shown; the statement reads one more, which tells whether there is a next page. */
export function readPageRequest(
  { cursor, limit = pageLimit.default }: PageRequest,
  isCursor: (text: string) => boolean,
): { after: string | null; limit: number } {
  const faults = []
  if (!Number.isInteger(limit) || limit < 1 || limit > pageLimit.max)
    faults.push({ pointer: '/limit', detail: `must be a whole number from 1 to ${pageLimit.max}` })
  if (cursor !== undefined && !isCursor(cursor))
    faults.push({ pointer: '/cursor', detail: 'must be the next_cursor of the page before' })
  if (faults.length > 0) {
    const inWords = faults.map(({ pointer, detail }) => `"${pointer.slice(1)}" ${detail}`).join('; ')
    throw new AppError('invalid_request', inWords, { faults })
  }
  return { after: cursor ?? null, limit }
}

export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
