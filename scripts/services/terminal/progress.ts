/** What a long piece of work tells about itself. It crosses a process border as it is (see the detached supervisor). */
export type ProgressEvent =
  | { kind: 'begin'; title: string }
  | { kind: 'end'; ok: boolean }
  | { kind: 'note'; text: string }

export type Progress = {
  /** Shows `title` while `work` runs, when that takes longer than a second. */
  step: <T>(title: string, work: () => Promise<T>) => Promise<T>
  note: (text: string) => void
}

type Output = {
  isTTY?: boolean
  write: (text: string) => unknown
  on: (event: 'error', listener: () => void) => unknown
}

export type Renderer = {
  show: (event: ProgressEvent) => void
  /** A line of somebody else's, printed without tearing the one that moves. */
  print: (line: string) => void
}

export function createProgress(show: (event: ProgressEvent) => void): Progress {
  return {
    async step(title, work) {
      show({ kind: 'begin', title })
      let ok = false
      try {
        const result = await work()
        ok = true
        return result
      } finally {
        show({ kind: 'end', ok })
      }
    },
    note: (text) => show({ kind: 'note', text }),
  }
}

const quietMs = 1_000
const plainRepeatMs = 10_000
const frameMs = 100
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** A spinner with the elapsed time on a terminal, lines elsewhere. */
export function createRenderer(stream: Output = process.stdout): Renderer {
  const terminal = stream.isTTY
  // The work goes on when nobody reads about it any more.
  stream.on('error', () => {})
  let current: { title: string; startedAt: number; announced: boolean; timer: NodeJS.Timeout } | undefined
  const clear = () => terminal && current !== undefined && stream.write('\r\u001B[K')
  const print = (line: string) => {
    clear()
    stream.write(`${line}\n`)
  }
  const tick = () => {
    if (current === undefined) return
    const elapsedMs = performance.now() - current.startedAt
    if (terminal) {
      const frame = frames[Math.floor(elapsedMs / frameMs) % frames.length]
      stream.write(`\r\u001B[K${frame} ${current.title} ${Math.floor(elapsedMs / 1000)} s`)
    } else {
      stream.write(
        current.announced ? `${current.title} … ${Math.round(elapsedMs / 1000)} s\n` : `${current.title} …\n`,
      )
      current.announced = true
    }
  }
  const begin = (title: string) => {
    end(true)
    // Plain output speaks first after a second, then every ten.
    const timer = terminal
      ? setInterval(tick, frameMs)
      : setTimeout(() => {
          tick()
          if (current !== undefined) current.timer = setInterval(tick, plainRepeatMs)
        }, quietMs)
    current = { title, startedAt: performance.now(), announced: false, timer }
  }
  const end = (ok: boolean) => {
    if (current === undefined) return
    const { title, startedAt, timer } = current
    clearTimeout(timer)
    clear()
    current = undefined
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < quietMs) return
    const seconds = `${(elapsedMs / 1000).toFixed(1)} s`
    const mark = ok ? '✓' : '✗'
    print(terminal ? `${mark} ${title} (${seconds})` : `${title}: ${ok ? 'done' : 'failed'} after ${seconds}`)
  }
  return {
    print,
    show(event) {
      if (event.kind === 'begin') begin(event.title)
      else if (event.kind === 'end') end(event.ok)
      else print(event.text)
    },
  }
}
