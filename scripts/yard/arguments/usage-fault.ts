/** A command that was typed wrongly: nothing has been done. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault'
}
