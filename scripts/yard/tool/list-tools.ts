import { parseArgs } from 'node:util'
import type { ToolList, ToolShape } from '@toolyard/contract/tools'
import { toolListShape, toolsEnabledShape } from '@toolyard/contract/tools'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readAnswer } from '../api/open-api.ts'
import type { Paint } from '../text/paint.ts'
import { columns, indent, oneLine, shorten } from '../text/terminal-text.ts'

const defaultWidth = 110
const describedMin = 20

export async function listTools(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: askingOptions })
  const { api, tell } = openDesk(values)
  const [answer, enabled] = await Promise.all([api.call('/tools'), api.call('/settings/tools_enabled')])
  const list = readAnswer(toolListShape, answer)
  const isOn = readAnswer(toolsEnabledShape, enabled).enabled
  tell({ ...Object(answer), tools_enabled: isOn }, (paint) => [
    ...(isOn ? [] : [paint.bad('All tools are switched off: ./yard tool enable --all')]),
    ...toolLines(list, paint, process.stdout.columns ?? defaultWidth),
  ])
  return 0
}

export function toolLines({ tools }: ToolList, paint: Paint, width: number): string[] {
  if (tools.length === 0) return ['There is no tool yet: ./yard tool new NAME --lang bash|python|node']
  const heads = columns([
    ['TOOL', 'STATUS', 'IMAGE', 'VERSION', 'TRIGGER'].map(paint.faint),
    ...tools.map((tool) => [
      paint.strong(oneLine(tool.name)),
      statusWord(tool, paint),
      imageWord(tool, paint),
      versionWord(tool),
      triggerWord(tool),
    ]),
  ])
  const [head = '', ...rows] = heads
  return [head, ...rows.flatMap((row, index) => [row].concat(detailsOf(tools[index], paint, width)))]
}

function statusWord({ status, enabled }: ToolShape, paint: Paint): string {
  if (!enabled) return paint.warning('disabled')
  return status === 'available' ? paint.warning('not configured') : 'enabled'
}

function imageWord({ image }: ToolShape, paint: Paint): string {
  const by = { ready: paint.good, building: paint.warning, error: paint.bad }
  return by[image.state](image.state)
}

/** Of what answers calls; nothing does while the first image is built. */
function versionWord({ version, image, serving }: ToolShape): string {
  const shown = serving ?? (image.hash === null ? undefined : { version, hash: image.hash })
  return shown === undefined ? '-' : `${oneLine(shown.version)} ${shortHash(shown.hash)}`
}

const triggerWord = ({ trigger }: ToolShape) =>
  trigger.type === 'cron'
    ? `cron ${oneLine(trigger.schedule ?? '')} ${oneLine(trigger.timezone ?? '')}`.trimEnd()
    : trigger.type === 'webhook'
      ? 'webhook'
      : 'on demand'

function detailsOf(tool: ToolShape | undefined, paint: Paint, width: number): string[] {
  if (tool === undefined) return []
  const { description, image, warnings } = tool
  return [
    ...(description === ''
      ? []
      : [paint.faint(`  ${shorten(oneLine(description), Math.max(describedMin, width - 2))}`)]),
    ...(image.error === null ? [] : [paint.bad(indent(image.error))]),
    ...warnings.map((warning) => paint.warning(indent(warning))),
  ]
}

/** As much of it as a person compares. */
export const shortHash = (hash: string) => oneLine(hash.slice(0, 12))
