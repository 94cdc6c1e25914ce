import type { z } from 'zod'

export type Setting<T = unknown> = {
  /** The variable's name in the environment. */
  env: string
  about: string
  parse: z.ZodType<T, string>
  /** As it would stand in the environment; absent means that the setting may be unset. */
  default?: string
  /** Also readable from a file named by `<env>_FILE`; never shown. */
  secret?: true
}

/** Holds a setting to that form, and keeps what it is exactly. */
export const define = <T, const S extends Omit<Setting<T>, 'parse'>>(
  setting: S & { parse: z.ZodType<T, string> },
) => setting
