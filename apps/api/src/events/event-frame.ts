/** The media type of Server-Sent Events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const eventStreamType = 'text/event-stream'

export type FrameParts = {
  event: string
  data: unknown
  /** What a client that comes back names as the last it has. */
  id?: string
  retryMs?: number
}

/** JSON holds no ends of lines, so one line of data is enough. */
export function toFrame({ event, data, id, retryMs }: FrameParts): string {
  return [
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}\n`]),
    ...(id === undefined ? [] : [`id: ${id}\n`]),
    `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  ].join('')
}

export const heartbeatFrame = ': still there\n\n'
