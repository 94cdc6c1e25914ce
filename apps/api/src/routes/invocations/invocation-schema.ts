import { invocationShape } from '@toolyard/contract/invocations'

export const invocation = invocationShape.meta({ id: 'Invocation' })
