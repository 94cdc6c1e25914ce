/**
 * The first part of every statement that locks a tool's row; $1 is the tool, and the row is written `from turn`.
 *
 * The row's lock alone would do, and does not queue: each commit makes a new version of the row, for which all who wait
 * begin again. With 50 finishes of one tool at once the slowest of a hundred took 650 ms without this, 170 with it.
 */
export const turn = `turn as materialized (select pg_advisory_xact_lock(hashtextextended('memory ' || $1, 0)))`
