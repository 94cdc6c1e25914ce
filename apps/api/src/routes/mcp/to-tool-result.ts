import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import type { ToldOfEnd } from '../invocations/told-of-end.ts'
import { toldOfEnd } from '../invocations/told-of-end.ts'

export const resultUri = (id: string) => `toolyard://invocations/${id}/result`
export const stderrUri = (id: string) => `toolyard://invocations/${id}/stderr`

/** A failure is a result too, which the model is to read; only who is not heard at all gets an error. */
export const toFailedResult = ({ output }: ToldOfEnd): CallToolResult => ({
  content: [{ type: 'text', text: output }],
  isError: true,
})

export function toToolResult(one: Invocation): CallToolResult {
  const told = toldOfEnd(one)
  const structuredContent = structure(one)
  if (told.success) return { content: [{ type: 'text', text: told.output }], structuredContent }
  if (isFinal(one.status)) return { ...toFailedResult(told), structuredContent }
  const text = `It has not ended yet (${one.status}). Its result will be in ${resultUri(one.id)}`
  return { content: [{ type: 'text', text }], structuredContent, isError: true }
}

function structure({ id, status, result, failure }: Invocation): { [name: string]: unknown } {
  const known = { invocation_id: id, status }
  if (result === undefined || result === null) return failure === null ? known : { ...known, failure }
  const { text, title, html, data, card, truncated } = result
  return {
    ...known,
    text,
    ...(title === null ? {} : { title }),
    ...(html === null ? {} : { html }),
    ...(data === undefined ? {} : { data }),
    ...(card === undefined ? {} : { card }),
    ...(truncated ? { truncated } : {}),
  }
}
