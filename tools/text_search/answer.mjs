const dataMax = 50_000
const textMax = 2_600
const shownMax = 200
const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** The tool's output for what was found. */
export function answer({ matches, count, isCounted, isInTime }, { pattern, text }) {
  const kept = fitting(matches)
  const lineCount = text.split('\n').length
  const total = isCounted ? `${count}` : `At least ${count}`
  const head = `${total} ${count === 1 ? 'match' : 'matches'} in ${lineCount} ${lineCount === 1 ? 'line' : 'lines'}.${isInTime ? '' : ' The search ran out of time.'}`
  return {
    text: told(head, kept, count),
    title: `${count}${isCounted ? '' : '+'} ${count === 1 ? 'match' : 'matches'}`,
    html: card(pattern, kept),
    data: { count, is_counted: isCounted, truncated: kept.length < count, matches: kept },
  }
}

/** As many of the first matches as the data of an answer has room for. */
function fitting(matches) {
  let bytes = 0
  const end = matches.findIndex((match) => (bytes += Buffer.byteLength(JSON.stringify(match)) + 1) > dataMax)
  return end === -1 ? matches : matches.slice(0, end)
}

function told(head, matches, count) {
  const lines = [head]
  let length = head.length
  for (const match of matches) {
    const line = `Line ${match.line}, column ${match.column}: ${inLine(match)}${groupsOf(match)}`
    length += line.length + 1
    if (length > textMax) break
    lines.push(line)
  }
  const left = count - (lines.length - 1)
  if (left > 0) lines.push(`${left} more ${left === 1 ? 'is' : 'are'} not shown here.`)
  return lines.join('\n')
}

function inLine({ before, match, after }) {
  const start = before.slice(before.lastIndexOf('\n') + 1)
  const [end = ''] = after.split('\n')
  return plain(`${start}»${cut(match)}«${end}`)
}

function groupsOf({ groups = [], named = {} }) {
  const names = Object.entries(named)
  const all = names.length > 0 ? names : groups.map((group, index) => [index + 1, group])
  const words = all.map(([name, group]) => `${name}: ${group === null ? 'none' : plain(cut(group))}`)
  return words.length > 0 ? ` (${words.join('; ')})` : ''
}

const cut = (text) => (text.length > shownMax ? `${text.slice(0, shownMax)}…` : text)

// What stands between braces would be cut from the text.
const plain = (text) => text.replaceAll('\n', '⏎').replaceAll('{', '(').replaceAll('}', ')').trim()

function card(pattern, matches) {
  const rows = matches
    .slice(0, 20)
    .map(
      ({ line, column, before, match, after }) =>
        `<div style="margin-bottom:4px;word-break:break-word"><span style="color:#666">${line}:${column}</span> ${escape(
          before,
        )}<b>${escape(cut(match))}</b>${escape(after)}</div>`,
    )
  const head = `<div style="color:#666;font-size:0.85rem;margin-bottom:8px">${escape(cut(pattern))}</div>`
  return `<div style="padding:16px;font-family:sans-serif">${head}${rows.join('') || '<div>No match</div>'}</div>`
}

const escape = (text) => text.replaceAll(/[&<>"']/g, (sign) => entities[sign])
