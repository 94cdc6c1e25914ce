import type { Channel } from './channel.ts'
import type { InitFrame } from './frames.ts'
import { FrameError, createFrameReader } from './frames.ts'
import type { Conversation, Ended, Heard, SessionRun } from './run-conversation.ts'
import { nothingHeard, startConversation } from './run-conversation.ts'

// What is known of one init, over its life.
//
//   opening --hello--> idle --run--> running --report--> settling --again--> idle
//                                            --report of the only run, which ended by itself--> spent
//   every phase --broken channel, broken protocol, close--> closed

export type Hello = { kind: 'ready' } | { kind: 'timeout' } | { kind: 'broken'; detail: string }

type Phase =
  | { name: 'opening' }
  | { name: 'idle' }
  | { name: 'running'; conversation: Conversation }
  | { name: 'settling' }
  | { name: 'spent' }
  | { name: 'closed'; detail: string }

const protocolVersion = 1

export class Session {
  readonly #channel: Channel
  readonly #reader = createFrameReader()
  readonly #waiting = new Set<() => void>()
  #phase: Phase = { name: 'opening' }
  #onClosed: (() => void) | undefined

  constructor(channel: Channel) {
    this.#channel = channel
    channel.listen({
      onData: (chunk) => this.#read(chunk),
      onClose: (lastWords) => this.#close(lastWords || 'the connection to the sandbox is gone'),
    })
  }

  /** Settles at the hello, at the end of the channel, or when the time is over. */
  async hello(timeoutMs: number): Promise<Hello> {
    const phase = await this.#leaves('opening', timeoutMs)
    if (phase.name === 'closed') return { kind: 'broken', detail: phase.detail }
    return { kind: phase.name === 'opening' ? 'timeout' : 'ready' }
  }

  run(request: SessionRun): Promise<Ended & Heard> {
    return new Promise((resolve) => {
      if (this.#phase.name !== 'idle') {
        const detail =
          this.#phase.name === 'closed' ? this.#phase.detail : `the sandbox is ${this.#phase.name}`
        return resolve({ kind: 'broken', detail, ...nothingHeard })
      }
      const conversation = startConversation(this.#channel, request, (ended) => {
        resolve(ended)
        if (ended.kind === 'reported' && request.isReused) this.#enter({ name: 'settling' })
        // By its own word nothing lives in it any more. Closing it would keep the engine busy while the caller waits.
        else if (ended.kind === 'reported' && ended.report.verdict === 'exited')
          this.#enter({ name: 'spent' })
        else this.#close('its run is over')
      })
      this.#enter({ name: 'running', conversation })
    })
  }

  /** After a reused run: true once the init has proven itself clean. */
  async settled(timeoutMs: number): Promise<boolean> {
    const phase = await this.#leaves('settling', timeoutMs)
    return phase.name === 'idle'
  }

  isIdle(): boolean {
    return this.#phase.name === 'idle'
  }

  /** The latest listener is the one that hears it; at once if it has happened. */
  onClosed(listener: () => void): void {
    this.#onClosed = listener
    if (this.#phase.name === 'closed') listener()
  }

  close(): void {
    this.#close('it was closed')
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#handle(frame)
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      if (this.#phase.name === 'running') this.#phase.conversation.garble(error.message)
      this.#close(error.message)
    }
  }

  #handle(frame: InitFrame): void {
    const phase = this.#phase
    if (phase.name === 'closed') return
    if (phase.name === 'running') phase.conversation.hear(frame)
    else if (phase.name === 'opening' && frame.kind === 'hello' && frame.version === protocolVersion)
      this.#enter({ name: 'idle' })
    else if (phase.name === 'settling' && frame.kind === 'again') this.#enter({ name: 'idle' })
    else if (phase.name === 'settling' && frame.kind === 'unclean') this.#close(frame.detail)
    else this.#close(`the init said ${frame.kind} while ${phase.name}`)
  }

  #close(detail: string): void {
    const phase = this.#phase
    if (phase.name === 'closed') return
    this.#enter({ name: 'closed', detail })
    this.#channel.close()
    if (phase.name === 'running') phase.conversation.breakOff(detail)
    this.#onClosed?.()
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    for (const wake of this.#waiting) wake()
  }

  /** Waits while the phase is `name`, at most so long, and gives the phase it then is. */
  #leaves(name: Phase['name'], timeoutMs: number): Promise<Phase> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve(this.#phase)
      }
      const wake = () => {
        if (this.#phase.name !== name) end()
      }
      const timer = setTimeout(end, timeoutMs)
      this.#waiting.add(wake)
      wake()
    })
  }
}
