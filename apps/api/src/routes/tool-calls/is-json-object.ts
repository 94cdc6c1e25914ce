import type { Json } from '@toolyard/contract/parameters'

export const isJsonObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
