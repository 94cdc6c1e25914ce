import { QueueError } from './queue-error.ts'

type FieldKind = 'id' | 'count'
type Fields = { readonly [field: string]: FieldKind }

/** What a job of each queue carries: ids and small counts, never a payload or a result. */
const fields = {
  invocations: { invocationId: 'id', attempt: 'count' },
  deliveries: { deliveryId: 'id' },
  ticks: { tool: 'id' },
  images: { imageHash: 'id' },
} as const satisfies { readonly [queue: string]: Fields }

export type ImagesQueue = `images-${string}`
export type QueueName = Exclude<keyof typeof fields, 'images'> | ImagesQueue

type FieldsOf<Q extends QueueName> =
  Q extends Exclude<keyof typeof fields, 'images'> ? (typeof fields)[Q] : (typeof fields)['images']

export type JobData<Q extends QueueName> = {
  readonly [Field in keyof FieldsOf<Q>]: FieldsOf<Q>[Field] extends 'count' ? number : string
}

// An id has no room for a payload: short, printable, without spaces, quotes or braces.
const idValue = /^[A-Za-z0-9_.:@/+=-]{1,128}$/
// No colon, since BullMQ builds its keys with it; not digits alone, since those are the ids that it makes itself.
const jobId = /^(?!\d+$)[A-Za-z0-9_.-]{1,128}$/
const queueName = /^[A-Za-z0-9_.-]{1,100}$/

/** The build queue of one engine. Engine ids of older Dockers hold colons, which a queue name may not. */
export function imagesQueue(engineId: string): ImagesQueue {
  return `images-${engineId.replaceAll(/[^A-Za-z0-9_.-]/g, '-')}`
}

export function assertQueueName(name: QueueName): void {
  if (!queueName.test(name) || fieldsOf(name) === undefined) {
    throw new QueueError('refused', `There is no queue named ${JSON.stringify(name)}`)
  }
}

export function assertJobId(id: string): void {
  if (jobId.test(id)) return
  throw new QueueError(
    'refused',
    `${JSON.stringify(id)} cannot be a job id: 1 to 128 letters, digits, "_", "." or "-", no colon, not digits alone`,
  )
}

/** Types end where JavaScript begins: what is stored is checked too, so that no payload ever reaches the queue. */
export function assertJobData<Q extends QueueName>(queue: Q, data: unknown): asserts data is JobData<Q> {
  const wanted = fieldsOf(queue) ?? {}
  if (typeof data !== 'object' || data === null)
    throw new QueueError('refused', `${queue}: job data must be a record of ids`)
  const values = new Map<string, unknown>(Object.entries(data))
  for (const [field, kind] of Object.entries(wanted)) {
    const value = values.get(field)
    const fits =
      kind === 'id' ? typeof value === 'string' && idValue.test(value) : Number.isSafeInteger(value)
    // The value itself stays out of the message: it may be what must not be stored.
    if (!fits)
      throw new QueueError(
        'refused',
        `${queue}: "${field}" must be ${kind === 'id' ? 'an id' : 'a whole number'}`,
      )
    values.delete(field)
  }
  for (const field of values.keys())
    throw new QueueError('refused', `${queue}: job data holds ids only, not "${field}"`)
}

function fieldsOf(queue: QueueName): Fields | undefined {
  if (queue.startsWith('images-')) return fields.images
  const name: string = queue
  // "images" alone is what the engines' queues have in common, not a queue.
  if (name === 'images' || !Object.hasOwn(fields, name)) return undefined
  // safe because what is no queue of the engines and is among the fields is one of these
  return fields[queue as Exclude<QueueName, ImagesQueue>]
}
