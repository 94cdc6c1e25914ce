// What never reaches a log line, whatever the caller passes. Two nets: by the name of a field, and by the
// look of a value, because a secret also travels inside messages, URLs and error texts.

const secretWords = 'authorization|cookie|password|passwd|passphrase|secret|token|credential|key|apikey'
// Judged as words_with_underscores: clientSecret, client-secret and CLIENT_SECRETS are the same name.
const secretName = new RegExp(`(?:^|_)(?:${secretWords})s?(?:_hash|_value|_header)?$`)

const secretLooks: [look: RegExp, shown: string][] = [
  [/\byk_([0-9a-z]+)_[0-9A-Za-z]+/g, 'yk_$1_***'],
  [/\bwhsec_[0-9A-Za-z+/=_-]+/g, 'whsec_***'],
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, '$1 ***'],
  // Everything up to the last @ before the path is the user's, since a password may itself hold an @.
  [/\b([a-z][a-z0-9+.-]*):\/\/[^\s/"']+@/gi, '$1://***@'],
  [/\$argon2id?\$[^\s"']+/g, '$argon2***'],
  // As in a query, a connection string or a command: password=…, "api_key": "…".
  [
    /((?:password|passwd|passphrase|secret|token|credential|api[_-]?key)s?["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s&"',;]+)/gi,
    '$1***',
  ],
]

const depthMax = 6
const masked = '***'

export function redactText(text: string): string {
  return secretLooks.reduce((rest, [look, shown]) => rest.replace(look, shown), text)
}

/** A copy of `value` in which secret fields are masked and secret-looking text is cut, ready to be serialised. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (depth >= depthMax) return '[too deep]'
  if (value instanceof Error) return redactError(value, depth)
  if (showsItself(value)) return redact(value.toJSON(), depth + 1)
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecretName(name) ? masked : redact(item, depth + 1),
    ]),
  )
}

function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/[^A-Za-z0-9]+/g, '_')
  return secretName.test(words.toLowerCase())
}

function showsItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...('code' in error ? { code: redact(error.code, depth + 1) } : {}),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  }
}
