// As much of the tar format as the engine is sent: no times, no owners, and names of any length.

const blockBytes = 512
const fieldBytes = 100
const typeFlags = { file: '0', link: '2', directory: '5' }

/** Paths have no slash at their ends. */
export type TarEntry =
  | { type: 'file'; path: string; size: number; mode: number }
  | { type: 'directory'; path: string }
  | { type: 'link'; path: string; target: string }

/** What comes before an entry's content. */
export function tarHeader(entry: TarEntry): Buffer {
  const name = entry.type === 'directory' ? `${entry.path}/` : entry.path
  const target = entry.type === 'link' ? entry.target : ''
  const records = [...paxRecord('path', name), ...paxRecord('linkpath', target)]
  const header = block(typeFlags[entry.type], {
    name,
    target,
    size: entry.type === 'file' ? entry.size : 0,
    mode: entry.type === 'file' ? entry.mode : 0o755,
  })
  if (records.length === 0) return header
  const extension = Buffer.from(records.join(''))
  const before = block('x', { name: 'pax', target: '', size: extension.length, mode: 0o644 })
  return Buffer.concat([before, extension, tarPadding(extension.length), header])
}

export const tarPadding = (size: number) => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

export const tarEnd = () => Buffer.alloc(2 * blockBytes)

// A record begins with its own length, the digits of the length included.
function paxRecord(key: string, value: string): string[] {
  if (Buffer.byteLength(value) <= fieldBytes) return []
  const rest = ` ${key}=${value}\n`
  let length = Buffer.byteLength(rest)
  while (String(length).length + Buffer.byteLength(rest) !== length)
    length = String(length).length + Buffer.byteLength(rest)
  return [`${length}${rest}`]
}

type Fields = { name: string; target: string; size: number; mode: number }

function block(type: string, { name, target, size, mode }: Fields): Buffer {
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  header.write(name, 0, fieldBytes)
  header.write(octal(mode, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  // A fixed date, so that the same content makes the same layer.
  header.write(octal(0, 11), 136)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write(target, 157, fieldBytes)
  header.write('ustar\x0000', 257)
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
