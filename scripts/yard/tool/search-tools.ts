import { parseArgs } from 'node:util'
import type { FoundTool, SearchAnswer } from '@toolyard/contract/search'
import { searchAnswerShape } from '@toolyard/contract/search'
import { askingOptions, openDesk } from '../api/desk.ts'
import { readAnswer } from '../api/open-api.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { wholeNumber } from '../arguments/whole-number.ts'
import type { Paint } from '../text/paint.ts'
import { columns, oneLine, shorten } from '../text/terminal-text.ts'

const defaultWidth = 110
const describedMin = 20

/** As an agent searches: the words need no quotes. */
export async function searchTools(args: string[]): Promise<number> {
  const options = {
    ...askingOptions,
    topic: { type: 'string' },
    limit: { type: 'string', default: '5' },
    explain: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const query = positionals.join(' ').trim()
  if (query === '') throw new UsageFault('say in a few words what is needed')
  const limit = wholeNumber('--limit', values.limit, { min: 1, max: 50 })
  const { topic, explain } = values
  const { api, tell } = openDesk(values)
  const body = { query, limit, explain, ...(topic === undefined ? {} : { topic }) }
  const answer = await api.call('/tools/search', { method: 'POST', body })
  const found = readAnswer(searchAnswerShape, answer)
  tell(answer, (paint) => foundLines(found, paint, process.stdout.columns ?? defaultWidth))
  return 0
}

export function foundLines(
  { tools, nothing_fits, searched_by }: SearchAnswer,
  paint: Paint,
  width: number,
): string[] {
  if (tools.length === 0) return ['There is no tool that could be called: ./yard tool list']
  const [head = '', ...rows] = columns([
    ['TOOL', 'FINAL', 'RELEVANCE', 'MEMORY', 'WHY'].map(paint.faint),
    ...tools.map((tool) => [
      paint.strong(oneLine(tool.name)),
      tool.final.toFixed(2),
      tool.relevance.toFixed(2),
      tool.memory.toFixed(2),
      oneLine(tool.reason),
    ]),
  ])
  return [
    ...(nothing_fits ? [paint.warning('Nothing fits well; the nearest are')] : []),
    ...(searched_by === 'words' ? [paint.warning('Found by words alone: there are no vectors yet')] : []),
    head,
    ...rows.flatMap((row, index) => [row].concat(detailsOf(tools[index], paint, width))),
  ]
}

function detailsOf(tool: FoundTool | undefined, paint: Paint, width: number): string[] {
  if (tool === undefined) return []
  const described = shorten(oneLine(tool.description), Math.max(describedMin, width - 2))
  return [paint.faint(`  ${described}`), ...numbersOf(tool).map((line) => paint.faint(`  ${line}`))]
}

/** How the figures above come about. */
function numbersOf({ explain }: FoundTool): string[] {
  if (explain === undefined) return []
  const { score, semantic, lexical, learned, correction, penalty, memory, exploration } = explain
  const sum = `${shown(semantic)} semantic + ${shown(lexical)} lexical + ${shown(learned)} learned`
  const factors =
    memory === null
      ? 'no outcomes'
      : `${shown(memory.weight)} weight ÷ ${shown(memory.mean_weight)} mean × ${shown(memory.recent ?? 1)} recent, ${attemptsOf(memory)}`
  return [
    `score ${shown(score)} = ${sum} - ${shown(correction)} correction - ${shown(penalty)} penalty`,
    `memory: ${factors}; exploration ${shown(exploration)}`,
  ]
}

function attemptsOf({ topic, attempts }: { topic: string | null; attempts?: number | undefined }): string {
  const place = topic === null ? 'overall' : `in ${oneLine(topic)}`
  return attempts === undefined ? place : `of ${attempts} outcomes ${place}`
}

const shown = (figure: number) => figure.toFixed(3)
