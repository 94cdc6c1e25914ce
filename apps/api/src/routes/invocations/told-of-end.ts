import type { AppError } from '@toolyard/contract/errors'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'

// What a model is told of a call, in the one text that it reads.

export type ToldOfEnd = { success: true; output: string } | { success: false; output: string; error: string }

// A call with a fault in each of its params is mended in one go.
const faultsMax = 20

export function toldOfEnd(one: Invocation): ToldOfEnd {
  if (one.result !== undefined && one.result !== null) return { success: true, output: textOf(one.result) }
  if (!isFinal(one.status))
    return told(`It has not ended yet (${one.status}): GET /invocations/${one.id} tells how it stands`)
  const { kind = one.status, message = 'There is no result' } = one.failure ?? {}
  return told(`${kind}: ${message}`)
}

export function toldOfRefusal({ code, message, faults }: AppError): ToldOfEnd & { success: false } {
  const lines = faults.slice(0, faultsMax).map(({ pointer, detail }) => `${pointer} ${detail}`)
  return told([`${code}: ${message}`, ...lines].join('\n'))
}

// A model is shown the output, whatever else there is: an empty one would tell it nothing.
const told = (error: string) => ({ success: false as const, output: `Error: ${error}`, error })

/** A tool that answers with data alone has said something all the same. */
function textOf({ text, data }: NonNullable<Invocation['result']>): string {
  return text === '' && data !== undefined ? JSON.stringify(data) : text
}
