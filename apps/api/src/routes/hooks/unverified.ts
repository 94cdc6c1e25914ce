import { AppError } from '@toolyard/contract/errors'

/** One answer to all who are not known here, whether there is such a tool or not; why stands in the log alone. */
export const unverified = () =>
  new AppError('unauthenticated', 'No tool is told of this message: it is not proven who sent it')
