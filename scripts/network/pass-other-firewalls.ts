import { existsSync, readFileSync } from 'node:fs'
import { findProgram } from '../services/machine/find-program.ts'
import type { ClosedChain } from './other-firewalls.ts'
import { closedForwardChains, isIptablesForward } from './other-firewalls.ts'
import { runProgram, tryProgram } from './run-program.ts'

// Where the machine forwards nothing unless told to (a policy, as Docker and ufw set it), our accept does not count. Two
// rules at the very end of that chain then stand between our bridge and the policy; every rule that somebody wrote
// himself still comes first, and our own filter decides what passes.

const legacyTables = '/proc/net/ip_tables_names'
const rulesFor = (bridge: string) => ['-i', '-o'].map((side) => ['FORWARD', side, bridge, '-j', 'ACCEPT'])

export type Passage = {
  /** Whether rules of ours are missing. */
  isBlocked: boolean
  /** Chains of others that we do not write to: they may drop what tools send. */
  closed: ClosedChain[]
}

export async function readPassage(bridge: string): Promise<Passage> {
  const found = await readClosed()
  const missing = await Promise.all(found.programs.map((program) => isMissing(program, bridge)))
  return { isBlocked: missing.some(Boolean), closed: found.closed }
}

export async function openPassage(bridge: string): Promise<void> {
  const { programs } = await readClosed()
  for (const program of programs) {
    await removeRules(program, bridge)
    for (const rule of rulesFor(bridge)) await runProgram(program, ['-w', '-A', ...rule])
  }
}

export async function closePassage(bridge: string): Promise<void> {
  const isThere = await Promise.all([hasLegacyFilter(), hasNftFilter()])
  const programs = [legacyProgram(), nftProgram()].filter((_, index) => isThere[index])
  for (const program of programs) if (program !== undefined) await removeRules(program, bridge)
}

async function readClosed(): Promise<{ programs: string[]; closed: ClosedChain[] }> {
  const chains = closedForwardChains(await runProgram('nft', ['-j', 'list', 'chains']))
  const program = nftProgram()
  const isOpenable = (chain: ClosedChain) => program !== undefined && isIptablesForward(chain)
  const programs = program !== undefined && chains.some(isOpenable) ? [program] : []
  const legacy = legacyProgram()
  if (legacy !== undefined && (await hasLegacyFilter())) {
    const listed = await tryProgram(legacy, ['-w', '-S', 'FORWARD'])
    if (/^-P FORWARD DROP$/m.test(listed.stdout)) programs.push(legacy)
  }
  return { programs, closed: chains.filter((chain) => !isOpenable(chain)) }
}

async function isMissing(program: string, bridge: string): Promise<boolean> {
  const checks = rulesFor(bridge).map((rule) => tryProgram(program, ['-w', '-C', ...rule]))
  return (await Promise.all(checks)).some(({ code }) => code !== 0)
}

async function removeRules(program: string, bridge: string): Promise<void> {
  for (const rule of rulesFor(bridge)) while ((await tryProgram(program, ['-w', '-D', ...rule])).code === 0);
}

const nftProgram = () => ['iptables-nft', 'iptables'].find((name) => findProgram(name) !== undefined)
const legacyProgram = () => ['iptables-legacy'].find((name) => findProgram(name) !== undefined)

// Only asked for where its tables are in use: asking it would otherwise bring them into being.
async function hasLegacyFilter(): Promise<boolean> {
  return existsSync(legacyTables) && readFileSync(legacyTables, 'utf8').split('\n').includes('filter')
}

async function hasNftFilter(): Promise<boolean> {
  return (await tryProgram('nft', ['list', 'chain', 'ip', 'filter', 'FORWARD'])).code === 0
}
