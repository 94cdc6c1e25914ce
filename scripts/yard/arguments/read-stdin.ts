import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Failure, Interruption } from '../../services/terminal/failure.ts'

const charactersMax = 1_048_576

/** All of stdin. From a terminal one line, which is not shown while it is typed. */
export async function readSecret(what: string): Promise<string> {
  return process.stdin.isTTY ? ask(what) : (await readStdin()).replace(/\r?\n$/, '')
}

export async function readStdin(): Promise<string> {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > charactersMax) throw new Failure(`stdin holds more than ${charactersMax} characters`)
  }
  return text
}

async function ask(what: string): Promise<string> {
  process.stderr.write(`${what}: `)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const ended = new AbortController()
  terminal.once('SIGINT', () => ended.abort(new Interruption('Nothing was stored')))
  terminal.once('close', () => ended.abort(new Failure('Nothing was stored: there was no answer')))
  try {
    return await terminal.question('', { signal: ended.signal })
  } catch (error) {
    ended.signal.throwIfAborted()
    throw error
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
