const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while we were sending',
  ETIMEDOUT: 'the connection was not answered',
  ENETUNREACH: 'its network cannot be reached',
  EHOSTUNREACH: 'its host cannot be reached',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that we do not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that we do not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes without those that lead to an authority we know',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too long',
}

/** The message of an error may quote what the other side sent; its code is ours. */
export function failureWords(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code in words) return words[code] ?? code
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`
  if (code.startsWith('ERR_SSL_')) return `no TLS could be agreed on (${code})`
  return `the connection failed (${code})`
}
