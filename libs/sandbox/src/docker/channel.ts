import { Socket } from 'node:net'
import type Docker from 'dockerode'
import type { Channel } from '../channel.ts'
import { EngineError, callEngine } from './engine-error.ts'

const headerBytes = 8
const stdoutStream = 1
const stderrKeptBytes = 1_024

/**
 * Attaches to a container that is not started yet, so that nothing it says is missed. The one connection carries its
 * stdin up and, in the engine's multiplexed form, its stdout and stderr down; closing it closes the container's stdin.
 */
export async function attachChannel(docker: Docker, id: string, timeoutMs: number): Promise<Channel> {
  const socket = await callEngine(timeoutMs, (abortSignal) => dialAttach(docker, id, abortSignal))
  socket.setNoDelay(true)
  // A connection to nowhere must not look idle for ever; the keep-alives of a run do the rest.
  socket.setKeepAlive(true, 10_000)
  let stderr = Buffer.alloc(0)
  let listener: Parameters<Channel['listen']>[0] | undefined
  const demultiplex = createDemultiplexer({
    onStdout: (chunk) => listener?.onData(chunk),
    onStderr(chunk) {
      stderr = Buffer.concat([stderr, chunk.subarray(0, stderrKeptBytes)]).subarray(-stderrKeptBytes)
    },
  })
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    socket.destroy()
    listener?.onClose(stderr.toString('utf8').trim())
  }
  socket.on('error', close)
  socket.on('end', close)
  socket.on('close', close)
  socket.pause()
  return {
    send(data) {
      if (isOpen) socket.write(data)
    },
    listen(given) {
      listener = given
      socket.on('data', (chunk: Buffer) => {
        if (isOpen && !demultiplex(chunk)) close()
      })
      socket.resume()
      if (!isOpen) given.onClose('')
    },
    close,
    isOpen: () => isOpen,
  }
}

/**
 * By hand because the client's own `attach` sends a body with the upgrade, and what an engine has not yet read of it
 * when it takes the connection over would reach the container's stdin.
 */
function dialAttach(docker: Docker, id: string, abortSignal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = {
      path: `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      method: 'POST',
      hijack: true,
      isStream: true,
      file: Buffer.alloc(0),
      headers: { 'Content-Type': 'text/plain' },
      abortSignal,
      statusCodes: { 101: true, 404: 'no such container', 409: 'it is paused', 500: 'server error' },
    }
    docker.modem.dial(request, (error, answer) => {
      if (error !== null) reject(error)
      else if (answer instanceof Socket && abortSignal.aborted) answer.destroy()
      else if (answer instanceof Socket) resolve(answer)
      else reject(new EngineError('the engine did not hand over the connection', undefined))
    })
  })
}

type Streams = { onStdout: (chunk: Buffer) => void; onStderr: (chunk: Buffer) => void }

/** Takes the engine's eight-byte headers out of the stream; false at a header that cannot be one. */
export function createDemultiplexer({ onStdout, onStderr }: Streams): (chunk: Buffer) => boolean {
  const header = Buffer.alloc(headerBytes)
  let headerFilled = 0
  let stream = 0
  let leftBytes = 0

  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (leftBytes === 0) {
        const copied = chunk.copy(header, headerFilled, at, at + headerBytes - headerFilled)
        at += copied
        headerFilled += copied
        if (headerFilled < headerBytes) return true
        headerFilled = 0
        stream = header.readUInt8(0)
        leftBytes = header.readUInt32BE(4)
        if (stream > 2 || header.readUIntBE(1, 3) !== 0) return false
        continue
      }
      const piece = chunk.subarray(at, at + leftBytes)
      at += piece.length
      leftBytes -= piece.length
      if (stream === stdoutStream) onStdout(piece)
      else onStderr(piece)
    }
    return true
  }
}
