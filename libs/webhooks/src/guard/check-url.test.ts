import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUrl } from './check-url.ts'
import type { GuardSettings } from './guard-rules.ts'
import { readGuardRules } from './guard-rules.ts'

function check(url: string, settings: GuardSettings = {}) {
  return checkUrl(url, readGuardRules(settings))
}

function reasonOf(url: string, settings: GuardSettings = {}): string {
  const verdict = check(url, settings)
  return verdict.kind === 'refused' ? verdict.reason : 'passes'
}

const notation = /^must name its host and port as they are dialled/
const unreadable = /^must be a URL/
const blank = /^must hold no blank/
const beginning = /^must begin with https/
const userinfo = /^must hold no user name/

// Each is tried with https and, where that is allowed, with http; `//` stands for the scheme.
const refusedHosts: [reason: RegExp, hosts: string][] = [
  [
    notation,
    // Loopback and metadata in every base and length that inet_aton and the URL parser know.
    '2130706433 0x7f000001 0X7F000001 017700000001 0177.0.0.1 0x7f.0.0.1 0x7f.1 127.1 127.0.1 127.0x1 0177.1 127.0.0.01 127.0.0.0x1 127.000.000.001 0000177.0.0.1 0x000000000000007f.1 0 0x0 00 0.0 0x 127.0.0.1. 127.1. 2852039166 0xa9fea9fe 025177524776 169.254.43518 169.16689662 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.0376.0xa9.254 169.254.169.254. 4294967295 0xffffffff 037777777777 8.8.2056 134744072 010.8.8.8',
  ],
  [
    notation,
    '１２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 127｡0｡0｡1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 ¹²⁷.0.0.1 ₁₆₉.254.169.254 169｡254｡169｡254 ０ｘ７ｆ.1 %31%32%37.0.0.1 127%2e0%2e0%2e1 %6c%6f%63%61%6c%68%6f%73%74 loc%61lhost localhost%2e metadata%2egoogle%2einternal example.com%2e ｌｏｃａｌｈｏｓｔ ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ℒocalhost ſervice.example.com example。com exaⅿple.com bücher.example faß.de münchen.example пример.example ☃.example ﬁle.example.com ⁷.example.com e\u0301xample.com \u212a.example.com',
  ],
  [
    notation,
    '[0:0:0:0:0:0:0:1] [::0001] [0::1] [::0:1] [::127.0.0.1] [::ffff:127.0.0.1] [0:0:0:0:0:FFFF:127.0.0.1] [::ffff:169.254.169.254] [64:ff9b::169.254.169.254] [2606:4700:0:0:0:0:0:1111] [2606:4700::0:1111] [2001:0db8::1] [::ffff:0:127.0.0.1]',
  ],
  [notation, 'example.com: example.com:0443 example.com:00443 example.com:08443'],
  [
    unreadable,
    '[::1%25eth0] [fe80::1%25eth0] [::1%eth0] [::1 [127.0.0.1] [::ffff:127.1] [::ffff:0x7f.0.0.1] [::ffff:0177.0.0.1] [v1.x] [] [12345::1] [1::2::3] [:::1] [1:2:3:4:5:6:7:8:9] [02606:4700::1111] 256.1.1.1 1.2.3.4.5 127.0.0.1.1 127.0.0.256 4294967296 0x100000000 foo.127 a.0x7f example.0 1.2.3.08 example.com:65536 example.com:-1 example.com:x example.com:443:443 ::1 exa%00mple.com exa%0ample.com exa%20mple.com exa%2fmple.com exa%40mple.com exa%23mple.com exa<mple.com exa|mple.com exa^mple.com %zz.example %ff.example ％３１27.0.0.1',
  ],
  [/^must lead to a public address, not to a loopback address/, '127.0.0.1 127.0.0.2 127.255.255.254 [::1]'],
  [
    /^must lead to a public address, not to a metadata address/,
    '169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 [fd00:ec2::254] [fd20:ce::254]',
  ],
  [/not to a private address/, '10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1'],
  [/not to an unspecified address/, '0.0.0.0 0.0.0.1 [::]'],
  [/not to a carrier-grade NAT address/, '100.64.0.1'],
  [/not to a link-local address/, '169.254.1.1 [fe80::1] [fe80::a9fe:a9fe]'],
  [/not to a unique local address/, '[fc00::1] [fd12:3456::1]'],
  [/not to an IPv4-mapped address/, '[::ffff:7f00:1] [::ffff:a9fe:a9fe] [::FFFF:808:808]'],
  [/not to an IPv4-compatible address/, '[::7f00:1] [::a9fe:a9fe]'],
  [/not to an IPv4-translated address/, '[::ffff:0:7f00:1]'],
  [/not to a NAT64 address/, '[64:ff9b::a9fe:a9fe] [64:ff9b::808:808]'],
  [/not to a local NAT64 address/, '[64:ff9b:1::a9fe:a9fe]'],
  [/not to a 6to4 address/, '[2002:a9fe:a9fe::1] [2002:7f00:1::]'],
  [/not to a Teredo address/, '[2001:0:a9fe:a9fe::1]'],
  [/not to an ISATAP address/, '[2606:4700::5efe:a9fe:a9fe] [2606:4700::200:5efe:7f00:1]'],
  [/not to a site-local address/, '[fec0::1]'],
  [/not to a segment routing address/, '[5f00::1]'],
  [/not to a multicast address/, '224.0.0.1 239.255.255.250 [ff02::1]'],
  [/not to a broadcast address/, '255.255.255.255'],
  [/not to a reserved address/, '240.0.0.1 192.0.0.8 [2001:1::1] [3ffe::1]'],
  [/not to a benchmarking address/, '198.18.0.1 [2001:2::1]'],
  [/not to a documentation address/, '192.0.2.1 198.51.100.1 203.0.113.1 [2001:db8::1] [3fff::1]'],
  [/not to an address outside of global unicast/, '[4000::1] [200::1] [1::1]'],
  [/none is under \.localhost$/, 'a.localhost 127.0.0.1.localhost LOCALHOST.localhost'],
  [
    /none is under \.(?:local|internal|localdomain|lan|home|corp|private|intranet|home\.arpa)$/,
    'printer.local metadata.google.internal METADATA.Google.Internal host.docker.internal localhost.localdomain nas.lan router.home git.corp a.private a.intranet a.home.arpa svc.cluster.local',
  ],
  [
    /^must name its host in full/,
    'localhost LocalHost metadata receiver ip6-localhost redis a xn--a kubernetes',
  ],
  [
    /^must name its host without a dot at the end/,
    'localhost. example.com. metadata.google.internal. printer.local. 1.2.3.4.. example.com..',
  ],
  [
    /^must name a host of letters/,
    `a..example.com .example.com -a.example a-.example exa*mple.com exa,mple.com exa'mple.com exa(mple).com exa!mple.com exa;mple.com exa=mple.com exa"mple.com exa~mple.com exa{mple}.com exa$mple.com exa&mple.com exa+mple.com ${'a'.repeat(64)}.example ${'a.'.repeat(127)}example 1.2.3.4..a`,
  ],
  [
    userinfo,
    'a@example.com a:b@example.com @example.com :@example.com a@127.0.0.1 example.com@169.254.169.254 a@b@example.com example.com%2f@127.0.0.1 %40@example.com example.com:443@127.0.0.1',
  ],
  [
    blank,
    ' example.com|exam\tple.com|exam\nple.com|exam\rple.com|example.com |example.com\\|example.com\\@127.0.0.1|127.0.0.1\\.example.com|exa\u00admple.com|loc\u00adalhost|exam\u200bple.com|exam\u200dple.com|a\u200db.example|\ufeffexample.com|exam\u2060ple.com|exam\u0000ple.com|exam\u007fple.com|exam\u202eple.com|exam\u00a0ple.com|exam\u3000ple.com|exam\ud800ple.com|exam\u2028ple.com|127.0.0.1\n',
  ],
  [beginning, '/example.com ?example.com /127.0.0.1 /'],
]

const splitRow = (hosts: string) => hosts.split(hosts.includes('|example') ? '|' : ' ')

for (const [reason, hosts] of refusedHosts)
  for (const host of splitRow(hosts))
    test(`the host ${JSON.stringify(host)} is refused`, () => {
      assert.match(reasonOf(`https://${host}/hook`), reason)
      assert.match(reasonOf(`http://${host}/hook`, { allowHttp: true, ports: [443, 8443] }), reason)
      assert.match(reasonOf(`HTTPS://${host}`), reason)
    })

const refusedUrls: [reason: RegExp, urls: string[]][] = [
  [
    beginning,
    [
      '',
      'example.com',
      'example.com/hook',
      '//example.com/hook',
      '/hook',
      'https',
      'https:',
      'https:/',
      'https://',
      'https:///',
      'https:example.com',
      'https:/example.com',
      'https:///example.com',
      'https:////example.com',
      'https://?example.com',
      'ftp://example.com',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_x',
      'data:text/plain,x',
      'javascript:alert(1)',
      'ws://example.com',
      'wss://example.com',
      'blob:https://example.com/x',
      'unix:///var/run/docker.sock',
      'http+unix://%2Fvar%2Frun%2Fdocker.sock/x',
      'view-source:https://example.com',
      'httpss://example.com',
      'ｈttps://example.com',
      'https：//example.com',
      'https:/／example.com',
    ],
  ],
  [
    blank,
    [
      ' https://example.com',
      'https://example.com ',
      '\nhttps://example.com',
      'ht\ntps://example.com',
      'https:\\\\example.com',
      'https:/\\example.com',
      'https://example.com/a b',
      'https://example.com/a\nb',
      'https://example.com\\..\\x',
      '\u0000https://example.com',
      '\ufeffhttps://example.com',
    ],
  ],
  [
    /^must have no fragment/,
    [
      'https://example.com#',
      'https://example.com/#x',
      'https://example.com/?a#b',
      'https://example.com#@127.0.0.1/',
    ],
  ],
  [
    /^must begin with https:\/\/, http is not allowed here/,
    ['http://example.com', 'HTTP://example.com', 'http://127.0.0.1', 'http:example.com'],
  ],
  [/^must use an allowed port \(443\), not 80$/, ['https://example.com:80', 'https://8.8.8.8:80/']],
  [
    /^must use an allowed port \(443\), not \d+$/,
    [
      'https://example.com:22',
      'https://example.com:0',
      'https://example.com:6379',
      'https://example.com:65535',
      'https://[2606:4700::1111]:8443/',
    ],
  ],
  [/^must have at most 2000 characters: it has 2001$/, [`https://example.com/${'a'.repeat(1_981)}`]],
  [
    /^must have at most 2000 characters: percent-encoded it has 5960$/,
    [`https://example.com/${'ü'.repeat(990)}`],
  ],
]

for (const [reason, urls] of refusedUrls)
  for (const url of urls)
    test(`the URL ${JSON.stringify(url.slice(0, 60))} is refused`, () => {
      assert.match(reasonOf(url), reason)
    })

const passing: [url: string, authority: string, port: number, path: string][] = [
  ['https://example.com', 'example.com', 443, '/'],
  ['https://example.com/hook?a=b&c=%20', 'example.com', 443, '/hook?a=b&c=%20'],
  ['HTTPS://Example.COM/Hook', 'example.com', 443, '/Hook'],
  ['https://example.com:443/hook', 'example.com', 443, '/hook'],
  ['https://a.b-c.d_e.example.com/', 'a.b-c.d_e.example.com', 443, '/'],
  ['https://xn--bcher-kva.example/', 'xn--bcher-kva.example', 443, '/'],
  ['https://example.xn--p1ai/', 'example.xn--p1ai', 443, '/'],
  ['https://1.example.com/', '1.example.com', 443, '/'],
  ['https://127.0.0.1.example.com/', '127.0.0.1.example.com', 443, '/'],
  ['https://localhost.example.com/', 'localhost.example.com', 443, '/'],
  ['https://notlocalhost.example/', 'notlocalhost.example', 443, '/'],
  ['https://example.locals/', 'example.locals', 443, '/'],
  ['https://8.8.8.8/', '8.8.8.8', 443, '/'],
  ['https://[2606:4700::1111]/', '[2606:4700::1111]', 443, '/'],
  ['https://[2606:4700::ABCD]/', '[2606:4700::abcd]', 443, '/'],
  ['https://[2606:4700::1111]:443/', '[2606:4700::1111]', 443, '/'],
  ['https://example.com/a@b:c', 'example.com', 443, '/a@b:c'],
  ['https://example.com?u=http://127.0.0.1/', 'example.com', 443, '/?u=http://127.0.0.1/'],
  ['https://example.com/a/../../b', 'example.com', 443, '/b'],
  ['https://example.com//169.254.169.254/x', 'example.com', 443, '//169.254.169.254/x'],
  ['https://example.com/ü/%0d%0aHost:x', 'example.com', 443, '/%C3%BC/%0d%0aHost:x'],
  [`https://${'a'.repeat(63)}.example/`, `${'a'.repeat(63)}.example`, 443, '/'],
  [`https://example.com/${'a'.repeat(1_980)}`, 'example.com', 443, `/${'a'.repeat(1_980)}`],
]

for (const [url, authority, port, path] of passing)
  test(`the URL ${url.slice(0, 60)} passes and leads where it says`, () => {
    const verdict = check(url)
    assert.equal(verdict.kind === 'refused' ? verdict.reason : '', '')
    assert.ok(verdict.kind === 'target')
    const { target } = verdict
    assert.deepEqual([target.authority, target.port, target.path], [authority, port, path])
    assert.equal(target.host, authority.replaceAll(/[[\]]/g, ''))
    assert.equal(target.isSecure, true)
    assert.equal(target.url, `https://${authority}${path}`)
  })

test('http passes where it is allowed, with its own port and not with that of https', () => {
  const settings = { allowHttp: true }
  const verdict = check('http://example.com/hook', settings)
  assert.ok(verdict.kind === 'target')
  assert.deepEqual([verdict.target.isSecure, verdict.target.port], [false, 80])
  assert.equal(reasonOf('http://example.com:80/', settings), 'passes')
  assert.equal(reasonOf('https://example.com/', settings), 'passes')
  assert.equal(reasonOf('http://example.com:443/', settings), 'must use an allowed port (80), not 443')
  assert.equal(reasonOf('https://example.com:80/', settings), 'must use an allowed port (443), not 80')
})

test('a port of the list passes, with a name and with an address', () => {
  const settings = { ports: [8443, 9000] }
  for (const url of ['https://example.com:8443/', 'https://8.8.8.8:9000/', 'https://[2606:4700::1111]:9000/'])
    assert.equal(reasonOf(url, settings), 'passes', url)
  assert.equal(
    reasonOf('https://example.com:8444/', settings),
    'must use an allowed port (443, 8443, 9000), not 8444',
  )
})

test('an allowed host may have any name, in this spelling alone, and keeps to the other rules', () => {
  const settings = { allow: ['localhost', 'receiver', 'git.corp'] }
  for (const url of ['https://localhost/', 'https://Receiver/', 'https://git.corp/x'])
    assert.equal(reasonOf(url, settings), 'passes', url)
  for (const url of [
    'https://localhost./',
    'https://ⓛocalhost/',
    'https://loc%61lhost/',
    'https://a.localhost/',
    'https://a@localhost/',
    'https://localhost:8080/',
    'http://localhost/',
    'https://receiver.corp/',
    'https://x.git.corp/',
    'https://127.0.0.1/',
  ])
    assert.notEqual(reasonOf(url, settings), 'passes', url)
})

test('an allowed block opens an address in its plain notation alone', () => {
  const settings = { allow: ['127.0.0.0/8', '::1'] }
  for (const url of ['https://127.0.0.1/', 'https://127.9.9.9/', 'https://[::1]/'])
    assert.equal(reasonOf(url, settings), 'passes', url)
  for (const host of [
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0::1]',
    'localhost',
  ])
    assert.notEqual(reasonOf(`https://${host}/`, settings), 'passes', host)
})

test('a reason names no control character of the URL', () => {
  for (const [, urls] of refusedUrls)
    for (const url of urls) assert.match(reasonOf(url), /^[ -~]+$/, JSON.stringify(url))
  for (const [, hosts] of refusedHosts)
    for (const host of splitRow(hosts))
      assert.match(reasonOf(`https://${host}/`), /^[ -~]+$/, JSON.stringify(host))
})
