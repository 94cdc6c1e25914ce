import type { LargeTableBench } from './large-table.ts'
import { ratioMax } from './large-table.ts'
import type { VerbPlan } from './explain-verbs.ts'

/** docs/ops/plans.md. */
export function describePlans({ small, large, largeBytes, verbs, plans }: LargeTableBench): string {
  const head = `\
# The plans of the hot statements

Made by \`./yard bench large-table\`: do not edit it. With ${inWords(small)} calls that have ended, and with ${inWords(large)} (a database of ${Math.round(largeBytes / 2 ** 30)} GiB); in both, 1,500 calls are held, 400 delayed, 40 queued and 60 run. The times are medians, measured in turns on one machine, commits not waiting for the disk. What has a limit must stay within it; a call of any day has none, because of millions it is mostly one whose pages are not in the memory of Postgres.

The plans are those of the large database. \`libs/invocations/src/plans.test.ts\` checks with every run of the tests that these statements read by their indexes and no table that grows whole.

| what | ${inWords(small)} | ${inWords(large)} | | limit | runs |
| --- | --- | --- | --- | --- | --- |`
  const rows = verbs.map(
    ({ name, smallMs, largeMs, ratio, isBounded, runs }) =>
      `| ${name} | ${smallMs.toFixed(2)} ms | ${largeMs.toFixed(2)} ms | × ${ratio.toFixed(2)} | ${isBounded ? `× ${ratioMax}` : ''} | ${runs} |`,
  )
  return `${[head, ...rows].join('\n')}\n\n${plans.map(describeVerb).join('\n\n')}\n`
}

function describeVerb({ name, statements }: VerbPlan): string {
  const parts = statements.map(({ title, plan, isPrepared }) => {
    if (plan === null) return `\`${title}…\`: as above.`
    return `\`${title}…\`, ${isPrepared ? 'the plan for any values' : 'planned for its values'}:\n\n\`\`\`text\n${plan}\n\`\`\``
  })
  return [`## ${name[0]?.toUpperCase()}${name.slice(1)}`, ...parts].join('\n\n')
}

const inWords = (count: number) => count.toLocaleString('en')
