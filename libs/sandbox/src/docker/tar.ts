// As much of the tar format as the engine's API asks for.

export type TarEntry = { name: string; content: Buffer; mode: number }

const blockBytes = 512
const regularFile = '0'

export function writeTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, content, mode }) => [
    header(name, content.length, mode),
    content,
    Buffer.alloc(padding(content.length)),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)])
}

/** The first entry's content if it is a regular file, undefined for anything else. */
export function readFirstFile(tar: Buffer): Buffer | undefined {
  if (tar.length < blockBytes) return undefined
  const type = tar.toString('latin1', 156, 157)
  const size = Number.parseInt(tar.toString('latin1', 124, 136), 8)
  if ((type !== regularFile && type !== '\0') || Number.isNaN(size)) return undefined
  const end = blockBytes + size
  return end <= tar.length ? tar.subarray(blockBytes, end) : undefined
}

function header(name: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name, 0, 100)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  // A fixed date, so that the same content makes the same layer.
  block.write(octal(0, 11), 136)
  block.write(' '.repeat(8), 148)
  block.write(regularFile, 156)
  block.write('ustar\x0000', 257)
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const padding = (size: number) => (blockBytes - (size % blockBytes)) % blockBytes
