import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { GuardRules } from './guard-rules.ts'
import type { PostAnswer, PostRequest } from './post.ts'
import { post } from './post.ts'

export type SenderOptions = {
  rules: GuardRules
  /** `address` or `address:port` of name servers to ask for every name. Default: the system's way. */
  dnsServers?: readonly string[]
  /** Authorities in PEM that are trusted besides the usual ones: one's own network's. */
  extraCertificates?: readonly string[]
}

export type Sender = { post(request: PostRequest): Promise<PostAnswer> }

/** Throws where a certificate cannot be read. */
export function createSender({ extraCertificates = [], ...names }: SenderOptions): Sender {
  const extra = extraCertificates.flatMap(readCertificates)
  // Once, because reading all authorities takes 55 ms (measured with 265 of them). Without extra ones Node shares its own.
  const secureContext = createSecureContext(
    extra.length === 0 ? {} : { ca: [...getCACertificates('default'), ...extra] },
  )
  return { post: (request) => post(request, { ...names, secureContext }) }
}

/** Node passes over what is no certificate, and the fault would show only at the first delivery. */
function readCertificates(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (found === null) throw new RangeError('an extra certificate is not in PEM')
  return found.map((one) => new X509Certificate(one).toString())
}
