import { Failure } from '../../services/terminal/failure.ts'

export type ServerEvent = { event: string; data: string; id: string | undefined }

const eventMaxCharacters = 1_048_576

/** Server-Sent Events as they come. `onHeard` is called for all that is heard, a mere sign of life too. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | null,
  onHeard: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  if (body === null) return
  const decoder = new TextDecoder()
  let unread = ''
  for await (const bytes of body) {
    onHeard()
    unread += decoder.decode(bytes, { stream: true })
    // A carriage return at the end may be half of an end of a line.
    const frames = unread.replaceAll('\r\n', '\n').split('\n\n')
    unread = frames.pop() ?? ''
    if (unread.length > eventMaxCharacters) throw new Failure('What answers there never ends an event')
    for (const frame of frames) {
      const event = parseFrame(frame)
      if (event !== undefined) yield event
    }
  }
}

/** Undefined for what is only a comment, or has no data. */
export function parseFrame(frame: string): ServerEvent | undefined {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of frame.split('\n')) {
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n'), id }
}
