import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import type { WriteStream } from 'node:fs'
import { dirname } from 'node:path'

export type RotatingLog = { write(line: string): void; close(): Promise<void> }

const maxBytes = 10 * 1024 * 1024

/** Lines to a file that is put aside as `<path>.1` when it is full; one old file is kept. */
export function openRotatingLog(path: string, limitBytes: number = maxBytes): RotatingLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let sizeBytes = sizeOf(path)
  let stream = open(path)
  return {
    write(line) {
      if (sizeBytes > limitBytes) {
        stream = putAside(path, stream)
        sizeBytes = 0
      }
      stream.write(`${line}\n`)
      sizeBytes += Buffer.byteLength(line) + 1
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  }
}

/** A descriptor for a program that writes its own log and outlives us; `trimLog` keeps it small. */
export function openLogDescriptor(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return openSync(path, 'a', 0o600)
}

/** Safe while the program writes because it appends: after the cut it goes on at the new end. */
export function trimLog(path: string, limitBytes: number = maxBytes): void {
  if (sizeOf(path) <= limitBytes) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path, 0)
}

/** The stream to go on with: the old one where no new one can be had, which is tried again when as much was written. */
function putAside(path: string, stream: WriteStream): WriteStream {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (existsSync(path)) renameSync(path, `${path}.1`)
    const next = open(path)
    stream.end()
    return next
  } catch {
    // safe to ignore because a log must not take the services down with it
    return stream
  }
}

function open(path: string): WriteStream {
  const stream = createWriteStream('', { fd: openSync(path, 'a', 0o600) })
  // A full disk must not take the services down with it; what cannot be written is lost.
  stream.on('error', () => {})
  return stream
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
