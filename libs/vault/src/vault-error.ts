/** The vault cannot be opened with the keys of this host. The message names the mend and holds no key. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
}
