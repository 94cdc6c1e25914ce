import { expandVariables, readInstructions, splitWords } from './read-instructions.ts'

/**
 * The images that a Dockerfile is made from, each once: those of its FROM lines and those that it copies from, without
 * its own stages and `scratch`. A name that hangs on an argument which nobody gives is left out; the engine says so.
 */
export function baseImagesOf(dockerfile: string, buildArgs: Readonly<Record<string, string>> = {}): string[] {
  const values = new Map<string, string>()
  const stages = new Set<string>()
  const images = new Set<string>()
  let isBeforeFrom = true
  const note = (image: string | undefined) => {
    if (image !== undefined && image !== '' && image !== 'scratch' && !stages.has(image.toLowerCase()))
      images.add(image)
  }
  for (const { word, rest } of readInstructions(dockerfile)) {
    if (word === 'ARG' && isBeforeFrom) declare(rest, values, buildArgs)
    if (word === 'COPY') note(copiedFrom(rest))
    if (word !== 'FROM') continue
    isBeforeFrom = false
    const [image, as, stage] = splitWords(rest).filter((one) => !one.startsWith('--'))
    note(expandVariables(image ?? '', values))
    if (as?.toLowerCase() === 'as' && stage !== undefined) stages.add(stage.toLowerCase())
  }
  return [...images]
}

/** Arguments of before the first FROM; only those have a value in FROM lines. */
export function globalArgumentsOf(dockerfile: string): string[] {
  const instructions = readInstructions(dockerfile)
  const end = instructions.findIndex(({ word }) => word === 'FROM')
  return instructions
    .slice(0, Math.max(end, 0))
    .filter(({ word }) => word === 'ARG')
    .flatMap(({ rest }) => splitWords(rest))
    .map((word) => word.split('=', 1)[0] ?? '')
}

function declare(
  rest: string,
  values: Map<string, string>,
  buildArgs: Readonly<Record<string, string>>,
): void {
  for (const word of splitWords(rest)) {
    const at = word.indexOf('=')
    const name = at < 0 ? word : word.slice(0, at)
    const value = buildArgs[name] ?? (at < 0 ? undefined : expandVariables(word.slice(at + 1), values))
    if (value !== undefined) values.set(name, value)
  }
}

/** A number is a stage of this file. */
function copiedFrom(rest: string): string | undefined {
  const from = splitWords(rest)
    .find((word) => word.startsWith('--from='))
    ?.slice('--from='.length)
  return from === undefined || /^\d+$/.test(from) ? undefined : from
}
