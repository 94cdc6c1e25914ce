// Of a call, as the wire takes it and the rows keep it.

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export const delayMaxMs = 30 * dayMs
/** How long a call that is due may wait before it expires. */
export const ttlMaxMs = 7 * dayMs
export const ttlDefaultMs = hourMs

/** Higher goes first. */
export const priorityMax = 9
export const priorityDefault = 5
export const idempotencyKeyMax = 255
