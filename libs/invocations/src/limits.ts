// Leases, and why I5 holds with them. A renewal at the moment t gives a lease until t + 30 s by the database's clock.
// A worker that has not renewed for 25 s by its own monotonic clock, counted from before it asked, kills its sandboxes:
// at t + 25 at the latest. One that is stopped (SIGSTOP, a frozen machine) cannot, but its inits hear nothing from then
// on and kill everything after 8 s: at t + 33 at the latest. One that is killed takes its inits' stdin along: at once.
// A stale attempt is taken back at t + 30 + 10 = t + 40, so 7 s are left for frames under way and for the kill itself.
export const leaseSeconds = 30
export const staleGraceSeconds = 10

/** A worker counts as alive, and its slots for the limits of tools, while it was seen within this. */
export const workerAliveSeconds = 30

export const queuedPerToolMax = 10_000
export const queuedMax = 100_000

/** Starts that end in a fault of ours before the invocation fails for it. */
export const infraFailuresMax = 3
/** Starts in all, however they end: handing back costs no failure, and must end too. */
export const attemptsMax = 50

export const idempotencySeconds = 24 * 3_600
