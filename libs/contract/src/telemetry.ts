import { z } from 'zod'
import { printable } from './keys.ts'

// What a caller may say of where and when it is asked. A tool always finds all seven, null where unknown.

const place = printable.max(100).nullable().optional()
const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z0-9]+(?:[-_.@][A-Za-z0-9]+)*$/, 'must be a language or locale, as en-MT')
  .nullable()
  .optional()

export const givenTelemetry = z.strictObject({
  lat: z.number().min(-90).max(90).nullable().optional(),
  lon: z.number().min(-180).max(180).nullable().optional(),
  city: place,
  country: place,
  time: z.iso.datetime({ offset: true }).max(40).nullable().optional(),
  locale: language,
  language,
})

export type GivenTelemetry = z.infer<typeof givenTelemetry>
export type Telemetry = { [K in keyof GivenTelemetry]-?: Exclude<GivenTelemetry[K], undefined> }

export function fillTelemetry(given: GivenTelemetry = {}): Telemetry {
  return {
    lat: given.lat ?? null,
    lon: given.lon ?? null,
    city: given.city ?? null,
    country: given.country ?? null,
    time: given.time ?? null,
    locale: given.locale ?? null,
    language: given.language ?? null,
  }
}
