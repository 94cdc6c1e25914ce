import { invocationShape } from '@toolyard/contract/invocations'

export const invocation = invocationShape.meta({ id: 'Invocation' })

/** Of a route that answers with one. */
export const invocationAnswer = (description: string) => ({
  description,
  content: { 'application/json': { schema: invocation } },
})
