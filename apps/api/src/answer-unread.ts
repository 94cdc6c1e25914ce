import type { ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'
import type { RefuseUnread } from './http/refuse-unread.ts'

export type UnreadRequest = {
  error: Error
  socket: Duplex
  underWay: ReadonlySet<ServerResponse>
  refuseUnread: RefuseUnread
}

/** Answers on the bare connection what Node's parser cannot read, and closes it: who knows where the next one begins. */
export function answerUnread({ error, socket, underWay, refuseUnread }: UnreadRequest): void {
  // These bytes would be taken for a part of an answer that is under way; and what is closed cannot be told anything.
  const isAnswering = [...underWay].some((outgoing) => outgoing.req.socket === socket)
  if (isAnswering || !socket.writable) {
    socket.destroy()
    return
  }
  const address = socket instanceof Socket ? socket.remoteAddress : undefined
  const { status, headers, body } = refuseUnread(error, address ?? 'unknown')
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
