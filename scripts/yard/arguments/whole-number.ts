import { Failure } from '../../services/terminal/failure.ts'

/** The number that was typed after an option. */
export function wholeNumber(
  option: string,
  text: string,
  { min, max }: { min: number; max: number },
): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new Failure(`${option} must be a whole number from ${min} to ${max}`)
}
