import type { House } from '../house/open-house.ts'
import { becomes } from '../services/machine/becomes.ts'

const answerMs = 5_000
const timeoutMs = 60_000

/** Lets the clock ring, or not, by whichever api answers. What it has started goes on. */
export async function turnClock(
  { urls, token }: Pick<House, 'urls' | 'token'>,
  isOn: boolean,
): Promise<void> {
  let turn = 0
  let last = 'nobody answered'
  const isTurned = async () => {
    const path = `/schedules/chaos_clock/${isOn ? 'resume' : 'pause'}`
    try {
      const response = await fetch(`${urls[turn++ % urls.length]}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(isOn ? {} : { reason: 'the run is over' }),
        signal: AbortSignal.timeout(answerMs),
      })
      last = `${response.status} ${await response.text()}`
      return response.ok
    } catch (error) {
      last = String(error)
      return false
    }
  }
  if (!(await becomes(isTurned, timeoutMs))) throw new Error(`the clock cannot be turned: ${last}`)
}
