import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, afterEach, before, test } from 'node:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { egressAllow } from '@toolyard/config/egress-allow'
import { clearEngine } from '@toolyard/sandbox/engine'
import { readToolNetwork } from '@toolyard/sandbox/tool-network'
import { findProgram } from '../services/machine/find-program.ts'
import { isRoot } from '../services/machine/is-root.ts'
import { closeBridge, filterFaults, installFilter } from './filter.ts'
import { isInOwnNamespace, resolverAddress, runInOwnNamespace } from './fixtures/own-namespace.ts'
import { answerIn, reachFrom, run } from './fixtures/run-from.ts'
import type { Place } from './fixtures/run-from.ts'
import { startWaiting } from './fixtures/waiting-container.ts'
import type { World } from './fixtures/world.ts'
import {
  elsewhere,
  hostAddress,
  makeWorld,
  neighbour,
  onHost,
  port,
  publicAddress,
  reachedElsewhere,
  refusedElsewhere,
} from './fixtures/world.ts'
import { createNetworkKeeper } from './keep-network.ts'
import type { ToolNetworkState } from './set-up-network.ts'
import { setUpNetwork } from './set-up-network.ts'
import { takeDownNetwork } from './take-down-network.ts'

const needs = isRoot() && ['dockerd', 'nft', 'ip', 'unshare'].every((name) => findProgram(name) !== undefined)

if (isInOwnNamespace()) declareTests()
else {
  test('the network for tools holds, in a network namespace with an engine of its own', async (t) => {
    if (!needs) return t.skip('needs root, dockerd, nft, ip and unshare')
    const { passed, report } = await runInOwnNamespace(import.meta.filename)
    assert.ok(passed, report)
  })
}

function declareTests(): void {
  let world: World
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-test-'))
  before(async () => void (world = await makeWorld(folder)))
  after(async () => {
    await world.leave()
    rmSync(folder, { recursive: true, force: true })
  })

  afterEach(async () => {
    for (const id of ['one', 'two', 'far']) await takeDown(id)
    await clearEngine(world.dockerHost)
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
  })

  const setUp = (allow = '', id = 'one') =>
    setUpNetwork({ id, dockerHost: world.dockerHost, allow: egressAllow().parse(allow) })
  const takeDown = (id = 'one') => takeDownNetwork(id, [world.dockerHost])

  test('a tool reaches public addresses and nothing else, though the host reaches all of it', async () => {
    const { network } = await setUp()
    const tool = await startWaiting(world.dockerHost, network.name)
    const gateway = gatewayOf(network.subnet)
    const refused = targets([...refusedElsewhere, ...onHost, gateway, '192.168.50.2', resolverAddress])
    const reached = targets(reachedElsewhere)
    assertAllReached(await reachFrom(undefined, [...refused, ...reached]))
    assertNoneReached(await reachFrom(tool.place, refused))
    assertNoneReached(
      await reachFrom(tool.place, targets(['255.255.255.255', '224.0.0.1', '127.0.0.1', '0.0.0.0'])),
    )
    const answers = await reachFrom(tool.place, reached)
    assertAllReached(answers)
    assert.equal(answers[`tcp://${publicAddress}:${port}`], `${publicAddress} from ${hostAddress}`)
  })

  test("names are resolved by the engine's name server at a private address, of which only port 53 is open", async () => {
    const { network } = await setUp()
    const tool = await startWaiting(world.dockerHost, network.name)
    const names = ['dns://127.0.0.11/example.test', `dns://${resolverAddress}/example.test`]
    assert.deepEqual(Object.values(await reachFrom(tool.place, names)), [publicAddress, publicAddress])
    assertNoneReached(await reachFrom(tool.place, targets([resolverAddress])))
  })

  test('one tool does not reach another, also where the host filters no bridge by itself', async () => {
    await run('sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0')
    const { network, filter } = await setUp()
    assert.ok(filter)
    const [one, two] = await Promise.all([
      startWaiting(world.dockerHost, network.name),
      startWaiting(world.dockerHost, network.name),
    ])
    const leave = await answerIn(two.place, port)
    assertNoneReached(await reachFrom(one.place, targets([two.address])))
    await withoutRules(filter, async () => {
      assertAllReached(await reachFrom(one.place, targets([two.address, ...onHost, ...refusedElsewhere])))
    })
    assertNoneReached(await reachFrom(one.place, targets([two.address, ...onHost, ...refusedElsewhere])))
    leave()
  })

  test('a tool that gives itself IPv6 reaches nobody by it', async () => {
    const { network, filter } = await setUp()
    assert.ok(filter)
    const [one, two] = await Promise.all([
      startWaiting(world.dockerHost, network.name),
      startWaiting(world.dockerHost, network.name),
    ])
    // Everything on the way is made to work, so that only the rules are left to stop it.
    await giveIpv6(undefined, network.bridge, 'fd00:7::1/64')
    await giveIpv6(one.place, 'eth0', 'fd00:7::2/64')
    await giveIpv6(two.place, 'eth0', 'fd00:7::3/64')
    await giveIpv6(undefined, 'up0', '2001:db8:9::1/64')
    await giveIpv6(elsewhere, 'eth0', '2001:db8:9::10/64')
    await run('ip -6 address add fd00:ec2::254/128 dev lo nodad', elsewhere)
    await run('ip -6 route add fd00:ec2::/64 via 2001:db8:9::10')
    await run('ip -6 route add fd00:7::/64 via 2001:db8:9::1', elsewhere)
    await run('ip -6 route add default via fd00:7::1', one.place)
    await run('sysctl -qw net.ipv6.conf.all.forwarding=1')
    const leave = await answerIn(two.place, port)
    const there = targets(['[2001:db8:9::10]', '[fd00:ec2::254]', '[2001:db8:9::1]', '[fd00:7::1]'])
    assertAllReached(await reachFrom(undefined, there))
    const all = [...there, ...targets(['[fd00:7::3]'])]
    assertNoneReached(await reachFrom(one.place, all))
    await withoutRules(filter, async () => assertAllReached(await reachFrom(one.place, all)))
    leave()
    await run('sysctl -qw net.ipv6.conf.all.forwarding=0')
  })

  test('what the operator allows is reached, at that address and port alone', async () => {
    const allow = `10.9.0.5:${port},172.16.0.0/12,10.200.0.1:${port},198.51.100.77/32,169.254.169.254:80`
    const { network } = await setUp(allow)
    const tool = await startWaiting(world.dockerHost, network.name)
    assertAllReached(await reachFrom(tool.place, targets(['10.9.0.5', '172.31.255.254', '10.200.0.1'])))
    const others = ['10.255.255.254', '192.168.77.5', '198.51.100.77', '169.254.169.254']
    assertNoneReached(await reachFrom(tool.place, targets(others)))
  })

  test('nothing is left when it is taken down, and the host forwards for nobody else meanwhile', async () => {
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '0')
    const atFirst = await describeHost()
    const { network, filter } = await setUp()
    assert.ok(filter)
    const tool = await startWaiting(world.dockerHost, network.name)
    assertAllReached(await reachFrom(tool.place, targets([publicAddress])))
    assertNoneReached(await reachFrom(neighbour, targets([publicAddress])))
    await withoutRules(filter, async () =>
      assertAllReached(await reachFrom(neighbour, targets([publicAddress]))),
    )
    await takeDown()
    assert.deepEqual(await describeHost(), atFirst)
    assert.equal(await readToolNetwork(world.dockerHost, 'one'), undefined)
    await tool.remove()
    await takeDown()
    assert.deepEqual(await describeHost(), atFirst, 'a second time there is nothing to do')
  })

  test('setting up again changes nothing, and mends what somebody took away', async () => {
    const first = await setUp()
    const asSetUp = await describeHost()
    assert.deepEqual(await setUp(), first)
    assert.deepEqual(await describeHost(), asSetUp)
    let filter = first.filter
    assert.ok(filter)
    assert.deepEqual(await filterFaults(filter), [])
    const harms = [
      'nft flush ruleset',
      `nft flush chain inet ${filter.names.table} to_host`,
      `ip link set dev ${first.network.bridge} type bridge nf_call_iptables 0`,
      `ip link set dev ${first.network.bridge} down`,
      'sysctl -qw net.ipv4.ip_forward=0',
      `ip link delete ${first.network.bridge}`,
    ]
    for (const harm of harms) {
      await run(harm)
      assert.equal((await filterFaults(filter)).length, 1, harm)
      const mended = await setUp()
      filter = mended.filter
      assert.ok(filter)
      assert.equal(mended.network.egressFilter, 'on')
      assert.deepEqual(await filterFaults(filter), [], harm)
    }
  })

  test('two installations side by side have nothing in common, and one leaves without the other', async () => {
    const [one, two] = await Promise.all([setUp('', 'one'), setUp('', 'two')])
    assert.notEqual(one.network.subnet, two.network.subnet)
    const [left, right] = await Promise.all([
      startWaiting(world.dockerHost, one.network.name),
      startWaiting(world.dockerHost, two.network.name),
    ])
    const leave = await answerIn(right.place, port)
    assertNoneReached(await reachFrom(left.place, targets([right.address, gatewayOf(two.network.subnet)])))
    await takeDown('one')
    assert.deepEqual(two.filter && (await filterFaults(two.filter)), [])
    assertAllReached(await reachFrom(right.place, targets([publicAddress])))
    leave()
  })

  test('an address of the host that is published from elsewhere is no way around the filter', async () => {
    const published = `-d ${hostAddress} -p tcp --dport ${port} -j DNAT --to-destination ${publicAddress}`
    await run(`iptables -t nat -A PREROUTING ${published}`)
    const { network } = await setUp()
    const tool = await startWaiting(world.dockerHost, network.name)
    const target = `tcp://${hostAddress}:${port}`
    const answers = await reachFrom(neighbour, [target])
    assert.match(answers[target] ?? '', new RegExp(`^${publicAddress} from`), 'for others it is')
    assertNoneReached(await reachFrom(tool.place, [target]))
    await run(`iptables -t nat -D PREROUTING ${published}`)
  })

  test('a firewall that forwards nothing by policy is passed at the end of its rules, or named', async () => {
    await run('iptables -P FORWARD DROP')
    await run(`iptables -A FORWARD -d ${reachedElsewhere[1]} -j DROP`)
    const rules = await run('iptables -S FORWARD')
    const { network } = await setUp()
    const tool = await startWaiting(world.dockerHost, network.name)
    assertAllReached(await reachFrom(tool.place, targets([publicAddress])))
    assertNoneReached(
      await reachFrom(tool.place, targets([reachedElsewhere[1] ?? ''])),
      'their rule still holds',
    )
    await tool.remove()
    await takeDown()
    assert.equal(await run('iptables -S FORWARD'), rules)
    await run('iptables -F FORWARD')
    await run('iptables -P FORWARD ACCEPT')
    await run('nft add table inet site')
    await run('nft add chain inet site through { type filter hook forward priority 0 ; policy drop ; }')
    assert.match((await setUp()).warning ?? '', /inet site through/)
    await run('nft delete table inet site')
  })

  test('the keeper puts the filter back, and cuts the network where it cannot', async () => {
    const state = await setUp()
    assert.ok(state.filter)
    const tool = await startWaiting(world.dockerHost, state.network.name)
    const said: string[] = []
    const options = { share: () => {}, say: (message: string) => void said.push(message) }
    const place = { id: 'one', dockerHost: world.dockerHost, allow: [] }
    const keeper = createNetworkKeeper({ ...options, place, state })
    await keeper.tick(0)
    assert.deepEqual(said, [])
    await run('nft flush ruleset')
    await keeper.tick(1_000)
    assert.deepEqual(said, [], 'it does not look all the time')
    await keeper.tick(3_000)
    assert.deepEqual(await filterFaults(state.filter), [])
    assertNoneReached(await reachFrom(tool.place, targets([hostAddress])))
    const impossible = { ...state.filter, resolvers: ['!'] }
    const lost = createNetworkKeeper({
      ...options,
      place: { ...place, dockerHost: 'unix:///nowhere' },
      state: { ...state, filter: impossible },
    })
    await run('nft flush ruleset')
    await lost.tick(0)
    assert.match(said.at(-1) ?? '', /cut off until its filter is back: nft/)
    assertNoneReached(await reachFrom(tool.place, targets([hostAddress, publicAddress])))
    await keeper.tick(6_000)
    assertAllReached(await reachFrom(tool.place, targets([publicAddress])))
  })

  test('an engine that was killed leaves no network behind, and a new one takes up the old', async () => {
    const first = await setUp()
    await world.killEngine()
    await takeDown()
    assert.doesNotMatch((await describeHost()).join('\n'), /ty-one|toolyard/)
    await world.startEngine()
    const again = await setUp()
    assert.equal(again.network.egressFilter, 'on')
    await world.killEngine()
    await world.startEngine()
    const { filter } = await setUp()
    assert.deepEqual(filter && (await filterFaults(filter)), [])
    assert.equal(first.network.subnet, again.network.subnet)
    const tool = await startWaiting(world.dockerHost, again.network.name)
    assertAllReached(await reachFrom(tool.place, targets([publicAddress])))
    assertNoneReached(await reachFrom(tool.place, targets([hostAddress])))
  })

  test('an engine whose bridge is not on this host gets no rules, and its network says so', async () => {
    const module = join(import.meta.dirname, 'set-up-network.ts')
    const program = `import { setUpNetwork } from '${module}'
      const { network, reason } = await setUpNetwork({ id: 'far', dockerHost: '${world.dockerHost}', allow: [] })
      console.log(JSON.stringify([network.egressFilter, reason]))`
    writeFileSync(join(folder, 'far.ts'), program)
    const answer: unknown = JSON.parse(await run(`${process.execPath} ${join(folder, 'far.ts')}`, elsewhere))
    assert.deepEqual(answer, ['off', 'the engine runs on another host'])
    assert.equal((await readToolNetwork(world.dockerHost, 'far'))?.egressFilter, 'off')
    assert.doesNotMatch(await run('nft list ruleset', elsewhere), /toolyard/)
    const nearby = await setUp('', 'far')
    assert.equal(nearby.network.egressFilter, 'on', 'from its own host it is made anew')
  })
}

const targets = (addresses: readonly string[]) =>
  addresses.flatMap((address) => [`tcp://${address}:${port}`, `udp://${address}:${port}`])

function assertAllReached(answers: Record<string, string | null>): void {
  const silent = Object.keys(answers).filter((target) => answers[target] === null)
  assert.deepEqual(silent, [], 'these should answer')
}

function assertNoneReached(answers: Record<string, string | null>, message?: string): void {
  const spoken = Object.keys(answers).filter((target) => answers[target] !== null)
  assert.deepEqual(spoken, [], message ?? 'these should not answer')
}

/** The counterproof: what did not answer does, once the rules alone are gone. */
async function withoutRules(filter: NonNullable<ToolNetworkState['filter']>, work: () => Promise<void>) {
  const { names, subnet } = filter
  await run(`nft delete table inet ${names.table}`)
  // Where replies come to the host for the container, it has to be known that they are the container's.
  await run(`ip route replace ${subnet} via ${hostAddress}`, elsewhere)
  try {
    await work()
  } finally {
    await installFilter(filter)
    await closeBridge(names)
    await run(`ip route delete ${subnet}`, elsewhere)
  }
}

async function giveIpv6(place: Place, link: string, address: string): Promise<void> {
  await run(`sysctl -qw net.ipv6.conf.${link}.disable_ipv6=0`, place)
  await run(`ip -6 address add ${address} dev ${link} nodad`, place)
}

async function describeHost(): Promise<string[]> {
  const forwarding = readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8').trim()
  const [links, rules, routes] = await Promise.all([
    run('ip -o link show'),
    run('nft list ruleset'),
    run('ip route show table all'),
  ])
  const names = [...links.matchAll(/^\d+: ([^:@]+)/gm)].map(([, name = '']) => name)
  return [forwarding, names.toSorted().join(' '), rules, routes]
}

function gatewayOf(subnet: string): string {
  return subnet.replace(/\.0\/\d+$/, '.1')
}
