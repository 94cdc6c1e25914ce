import { tarEnd, tarHeader, tarPadding } from '../tar-blocks.ts'

export type TarFile = { name: string; content: Buffer; mode: number }

const headerBytes = 512
const regularFile = '0'

export function writeTar(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap(({ name, content, mode }) => [
    tarHeader({ type: 'file', path: name, size: content.length, mode }),
    content,
    tarPadding(content.length),
  ])
  return Buffer.concat([...blocks, tarEnd()])
}

/** The first entry's content if it is a regular file, undefined for anything else. */
export function readFirstFile(tar: Buffer): Buffer | undefined {
  if (tar.length < headerBytes) return undefined
  const type = tar.toString('latin1', 156, 157)
  const size = Number.parseInt(tar.toString('latin1', 124, 136), 8)
  if ((type !== regularFile && type !== '\0') || Number.isNaN(size)) return undefined
  const end = headerBytes + size
  return end <= tar.length ? tar.subarray(headerBytes, end) : undefined
}
