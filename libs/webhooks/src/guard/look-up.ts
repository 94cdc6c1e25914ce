import { lookup, Resolver } from 'node:dns/promises'

export type Records = { kind: 'records'; addresses: readonly string[] } | { kind: 'failed'; detail: string }

// 2 + 4 + 5 seconds before a silent server counts as failed, whatever the deadline.
const resolverTimes = { timeout: 2_000, maxTimeout: 5_000, tries: 3 }

/**
 * Asks DNS for both families and is content only if both questions were answered: what has not been seen has not been
 * checked. Not by `dns.lookup`: that blocks a thread of Node until the answer is there, two at a time, so that two
 * names whose servers keep silent would hold up all others; and it would try search domains and `/etc/hosts` for names
 * that strangers choose. `servers` are other servers than the system's.
 */
export async function lookUpInDns(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Records> {
  const resolver = new Resolver(resolverTimes)
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const answers = await Promise.all([answerOf(resolver.resolve4(name)), answerOf(resolver.resolve6(name))])
    signal.throwIfAborted()
    return answers.find(({ kind }) => kind === 'failed') ?? joined(answers)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** As every program of this machine does it, `/etc/hosts` and search domains included. */
export async function lookUpBySystem(name: string, signal: AbortSignal): Promise<Records> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  // safe because whoever aborts gives an Error or takes the default, which is one
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop)
  try {
    const found = lookup(name, { all: true, order: 'verbatim' })
    return await Promise.race([
      answerOf(found.then((records) => records.map(({ address }) => address))),
      aborted,
    ])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function answerOf(question: Promise<string[]>): Promise<Records> {
  try {
    return { kind: 'records', addresses: await question }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return meansNone.has(code)
      ? { kind: 'records', addresses: [] }
      : { kind: 'failed', detail: failureOf(code) }
  }
}

const joined = (answers: readonly Records[]): Records => ({
  kind: 'records',
  addresses: [...new Set(answers.flatMap((answer) => (answer.kind === 'records' ? answer.addresses : [])))],
})

const meansNone = new Set(['ENODATA', 'ENOTFOUND'])

function failureOf(code: string): string {
  if (code === 'ETIMEOUT' || code === 'EAI_AGAIN') return 'no name server answered in time'
  return `the name could not be looked up (${code})`
}
