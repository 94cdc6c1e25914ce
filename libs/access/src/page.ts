import { AppError } from '@toolyard/contract/errors'
import { isId } from './token.ts'

export type PageRequest = { cursor?: string | undefined; limit?: number | undefined }

const defaultLimit = 50
const limitMax = 200

/** What the statement needs: one row more than the page, which tells whether there is a next one. */
export function readPageRequest(
  page: PageRequest,
  isCursor: (text: string) => boolean = isId,
): { after: string | null; limit: number } {
  const limit = page.limit ?? defaultLimit
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw new AppError('invalid_request', `"limit" must be a whole number from 1 to ${limitMax}`, {
      faults: [{ pointer: '/limit', detail: `must be a whole number from 1 to ${limitMax}` }],
    })
  }
  // A cursor is the id of the last row of the page before.
  if (page.cursor !== undefined && !isCursor(page.cursor)) {
    throw new AppError('invalid_request', '"cursor" must be the next_cursor of the page before', {
      faults: [{ pointer: '/cursor', detail: 'must be the next_cursor of the page before' }],
    })
  }
  return { after: page.cursor ?? null, limit }
}

export function cutPage<Row extends { id: string }>(
  rows: Row[],
  limit: number,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  return { page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
}
