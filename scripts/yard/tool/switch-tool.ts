import { parseArgs } from 'node:util'
import { askingOptions, openDesk } from '../api/desk.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { UsageFault } from '../arguments/usage-fault.ts'

type Verb = 'enable' | 'disable'

/** One tool, or with `--all` the switch that stands above them. */
export const switchTool =
  (verb: Verb) =>
  async (args: string[]): Promise<number> => {
    const options = { ...askingOptions, all: { type: 'boolean', default: false } } as const
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (values.all && positionals.length > 0) throw new UsageFault('either NAME or --all')
    const { api, tell } = openDesk(values)
    const done = verb === 'enable' ? 'on' : 'off'
    if (values.all) {
      const answer = await api.call('/settings/tools_enabled', {
        method: 'PUT',
        body: { enabled: verb === 'enable' },
      })
      tell(answer, () => [
        `All tools are switched ${done}${verb === 'disable' ? '; what runs is not touched' : ''}`,
      ])
      return 0
    }
    const name = requireToolName(onlyWord(positionals, 'NAME'))
    const answer = await api.call(`/tools/${name}/${verb}`, { method: 'POST' })
    tell(answer, () => [
      `${name} is switched ${done}${verb === 'disable' ? '; what runs is not touched' : ''}`,
    ])
    return 0
  }
