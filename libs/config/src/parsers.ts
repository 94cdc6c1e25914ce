import { z } from 'zod'
import { Secret } from './secret.ts'

// Environment values are text. Each parser turns one text into a bounded value or says in one line what is wrong.

export const text = () => z.string().min(1, 'must not be empty')

export const word = () =>
  z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be 1 to 40 letters, digits, "_" or "-"')

export const yesOrNo = () =>
  z.enum(['yes', 'no'], { error: 'must be yes or no' }).transform((answer) => answer === 'yes')

/** Texts between commas. */
export const list = () =>
  z
    .string()
    .transform((value) => value.split(',').map((item) => item.trim()))
    .refine((items) => items.every((item) => item !== ''), 'must be a list with commas between')

export const integer = (bounds: { min: number; max: number }) =>
  z
    .string()
    .regex(/^-?\d+$/, `must be a whole number from ${bounds.min} to ${bounds.max}`)
    .transform(Number)
    .refine((n) => n >= bounds.min && n <= bounds.max, `must be from ${bounds.min} to ${bounds.max}`)

/** Ports between commas. */
export const ports = () =>
  list()
    .refine(
      (items) => items.every((item) => /^\d{1,5}$/.test(item) && Number(item) >= 1 && Number(item) <= 65_535),
      'must be ports from 1 to 65535 with commas between',
    )
    .transform((items) => items.map(Number))

export const choice = <const T extends string>(...words: T[]) =>
  z.enum(words, { error: `must be one of: ${words.join(', ')}` })

export const secretUrl = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => hasProtocol(value, protocols),
      `must be a URL beginning ${protocols.map((p) => `${p}//`).join(' or ')}`,
    )
    .transform((value) => new Secret(value))

/** What can stand in a header. */
export const secretToken = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .transform((value) => new Secret(value))

export const endpoint = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => hasProtocol(value, protocols),
      `must begin ${protocols.map((p) => `${p}//`).join(' or ')}`,
    )

function hasProtocol(value: string, protocols: string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol)
}
