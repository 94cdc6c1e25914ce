import { becomes } from '../services/machine/becomes.ts'
import type { House } from './open-house.ts'

const buildTimeoutMs = 180_000

type Listed = { name: string; image: { state: string; error?: string | null } }

/** Returns when all of these can be called. */
export async function awaitTools(
  { urls, token }: Pick<House, 'urls' | 'token'>,
  names: readonly string[],
): Promise<void> {
  let last = 'no answer'
  const isReady = async () => {
    const response = await fetch(`${urls[0]}/tools`, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    last = text.slice(0, 2_000)
    if (!response.ok) return false
    // safe because the api answers so
    const { tools } = JSON.parse(text) as { tools: Listed[] }
    const ready = tools.filter(({ image }) => image.state === 'ready').map(({ name }) => name)
    return names.every((name) => ready.includes(name))
  }
  if (!(await becomes(isReady, buildTimeoutMs))) throw new Error(`the tools were not built: ${last}`)
}
