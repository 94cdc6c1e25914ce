/** As a key of idempotency is, which it becomes: an invocation is made once for it. */
const eventIdPattern = /^[\x21-\x7e]{1,255}$/

export const isEventId = (text: string) => eventIdPattern.test(text)
