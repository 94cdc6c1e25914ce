/** Colours say nothing that the words do not say. */
export type Paint = Readonly<
  Record<'good' | 'bad' | 'warning' | 'faint' | 'strong', (text: string) => string>
>

const codes = { good: 32, bad: 31, warning: 33, faint: 2, strong: 1 } as const

/** Colours for a terminal, and for nothing else; https://no-color.org */
export function createPaint(
  stream: { isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Paint {
  const isPlain = stream.isTTY !== true || Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb'
  const by = (code: number) => (text: string) =>
    isPlain || text === '' ? text : `\u001b[${code}m${text}\u001b[0m`
  return {
    good: by(codes.good),
    bad: by(codes.bad),
    warning: by(codes.warning),
    faint: by(codes.faint),
    strong: by(codes.strong),
  }
}
