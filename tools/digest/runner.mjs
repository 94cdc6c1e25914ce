import { Refusal, factsOf, isoDay, longDay, readDay, shortDay, todayIn } from './days.mjs'
import { agenda, readReminders } from './reminders.mjs'

// The day at a glance: what is due today and in the days to come, out of reminders that are kept as a setting.

const textMax = 2_800
const whatMax = 200
const comingBytesMax = 20_000
const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function main(encoded) {
  const { params = {}, settings = {} } = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'))
  const zone = String(settings.zone || 'UTC')
  const today = params.date ? readDay(String(params.date)) : todayIn(zone, new Date())
  const { reminders, unread } = readReminders(String(settings.reminders ?? ''))
  return answer({ ...agenda(reminders, today, (params.days ?? 7) + 1), today, unread })
}

function answer({ due, past, today, unread }) {
  const [now, ...later] = due
  const coming = later.flatMap(({ day, what }) => what.map((one) => `${shortDay(day)}: ${plain(one)}`))
  const gone = past.map(
    ({ what, day, ago }) => `${isoDay(day)} (${ago} day${ago === 1 ? '' : 's'} ago): ${plain(what)}`,
  )
  const sections = [
    [now.what.length === 0 ? 'Nothing is due today.' : 'Due today:', now.what.map(plain)],
    [
      coming.length === 0 ? `Nothing in the next ${later.length} days.` : `In the next ${later.length} days:`,
      coming,
    ],
    [gone.length === 0 ? '' : 'Dated before today:', gone],
    [unread.length === 0 ? '' : `Reminders not understood, on line ${unread.slice(0, 20).join(', ')}.`, []],
  ].filter(([head]) => head !== '')
  return {
    text: cut([
      headline(today),
      ...sections.flatMap(([head, items]) => [head, ...items.map((item) => `- ${item}`)]),
    ]),
    title: longDay(today),
    html: card(headline(today), sections),
    data: {
      date: isoDay(today),
      today: now.what,
      coming: fitting(
        later.flatMap(({ day, what }) => what.map((one) => ({ date: isoDay(day), what: one }))),
      ),
      past: past.map(({ what, day }) => ({ date: isoDay(day), what })),
      unread_lines: unread,
    },
  }
}

function headline(today) {
  const { week, dayOfYear, daysLeft } = factsOf(today)
  return `${longDay(today)}, week ${week}, day ${dayOfYear} of the year, ${daysLeft} left in it.`
}

/** As many of the first as the data of an answer has room for: one reminder may come up on every day. */
function fitting(items) {
  let bytes = 0
  const end = items.findIndex(
    (item) => (bytes += Buffer.byteLength(JSON.stringify(item)) + 1) > comingBytesMax,
  )
  return end === -1 ? items : items.slice(0, end)
}

/** Whole lines, as many as fit. */
function cut(lines) {
  let length = 0
  const end = lines.findIndex((line) => (length += line.length + 1) > textMax)
  return (end === -1 ? lines : [...lines.slice(0, end), `… ${lines.length - end} more lines.`]).join('\n')
}

// What stands between braces would be cut from the text.
const plain = (what) => what.slice(0, whatMax).replaceAll('{', '(').replaceAll('}', ')')

function card(head, sections) {
  const list = ([title, items]) =>
    `<div style="font-weight:600;margin-top:8px">${escape(title)}</div>${items
      .slice(0, 30)
      .map((item) => `<div>• ${escape(item)}</div>`)
      .join('')}`
  return `<div style="padding:16px;font-family:sans-serif"><div style="color:#666">${escape(head)}</div>${sections
    .map(list)
    .join('')}</div>`
}

const escape = (text) => text.replaceAll(/[&<>"']/g, (sign) => entities[sign])

try {
  process.stdout.write(JSON.stringify(main(process.argv[2] ?? '')))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stdout.write(JSON.stringify({ error: plain(error.message) }))
  process.exitCode = 1
}
