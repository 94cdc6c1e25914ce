import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { DefaultTreeAdapterTypes } from 'parse5'
import { parse, parseFragment, serialize } from 'parse5'
import { htmlAttacks } from '../fixtures/html-attacks.ts'
import { cleanHtml, htmlBytesMax } from './clean-html.ts'

type Node = DefaultTreeAdapterTypes.ChildNode

// The lists of the judge are its own, so that a slip in those of the sanitizer shows.
const tags = new Set(
  'a abbr address article aside b bdi blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark meter nav ol p pre progress q s samp section small span strong sub summary sup table tbody td tfoot th thead time tr u ul var wbr'.split(
    ' ',
  ),
)
const attributes = new Set(
  'title lang dir aria-label style href rel target src alt width height colspan rowspan scope span start type value datetime max min low high optimum'.split(
    ' ',
  ),
)
const badStyle =
  /url|expression|@|\\|\/\*|[{}<>"&]|!|(?:^|;)(?!position:(?:static|relative)(?:;|$))(?:position|z-index|inset|top|left|right|bottom|transform|animation|filter|behavior|content|cursor|pointer-events|visibility|-)|calc|var\(|attr\(|image|:[^;]*[ (,]?-\d{2}|(?<![a-z][a-z\d-]*)\d{5}|\dv[wh]|display:none|opacity:0(?:;|$)|font-size:0/

function judge(nodes: readonly Node[]): void {
  for (const node of nodes) {
    if (node.nodeName === '#text') {
      if ('value' in node)
        // oxlint-disable-next-line no-control-regex -- controls are what must be gone
        assert.doesNotMatch(node.value, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800]/)
      continue
    }
    assert.ok('tagName' in node, `a node ${node.nodeName}`)
    assert.ok(tags.has(node.tagName), `an element ${node.tagName}`)
    assert.equal(node.namespaceURI, 'http://www.w3.org/1999/xhtml')
    const values = new Map(node.attrs.map(({ name, value }) => [name, value]))
    for (const [name, value] of values) {
      assert.ok(attributes.has(name), `an attribute ${name}`)
      if (name === 'style') assert.doesNotMatch(value, badStyle)
      if (name === 'src')
        assert.match(value, /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/)
      if (name === 'href') assert.match(value, /^(?:https?:\/\/[^@\s]+|mailto:\S+)$/)
    }
    if (node.tagName === 'a') {
      assert.equal(values.get('rel'), 'noopener noreferrer nofollow')
      assert.equal(values.get('target'), '_blank')
    }
    judge(node.childNodes)
  }
}

/** Parsed as a browser would: on its own, in a page, and inside an element. */
function judgeHtml(html: string): void {
  judge(parseFragment(html).childNodes)
  assert.equal(serialize(parseFragment(html)), html)
  const page = parseFragment(`<div>${html}</div>`).childNodes
  assert.equal(page.length, 1)
  assert.equal(serialize(parseFragment(`<div>${html}</div>`)), `<div>${html}</div>`)
  assert.ok(serialize(parse(`<!doctype html><body><div>${html}</div></body>`)).includes(`<div>${html}</div>`))
}

function judgeClean(dirty: string): void {
  const { html } = cleanHtml(dirty)
  if (html === undefined) return
  judgeHtml(html)
  assert.deepEqual(cleanHtml(html), { html, removed: [] })
}

for (const [index, attack] of htmlAttacks.entries())
  test(`attack ${index} comes out harmless: ${JSON.stringify(attack).slice(0, 70)}`, () => {
    judgeClean(attack)
    // With a visible neighbour there is always something to judge.
    assert.notEqual(cleanHtml(`<p>seen</p>${attack}`).html, undefined)
    judgeClean(`<p>seen</p>${attack}`)
    judgeClean(`<table><tr><td><a href="https://a.example">${attack}`)
  })

test('the judge finds what is forbidden', () => {
  for (const bad of [
    '<script>x</script>',
    '<p onclick="x">x</p>',
    '<a href="javascript:x">x</a>',
    '<a href="https://a.example">x</a>',
    '<img src="https://a.example/a.png">',
    '<p style="position:fixed">x</p>',
    '<p style="background:url(x)">x</p>',
    '<svg></svg>',
    '<p><div>x</div></p>',
    '<table>x</table>',
    '<!-- x -->',
    '<p style="margin:-20px">x</p>',
  ])
    assert.throws(() => judgeHtml(bad), bad)
})

const cards: [string, string][] = [
  [
    '<div style="padding:16px;font-family:sans-serif"><div style="font-size:2rem">21°C</div></div>',
    '<div style="padding:16px;font-family:sans-serif"><div style="font-size:2rem">21°C</div></div>',
  ],
  ['<header>a</header><embedded>b</embedded> only=5', '<header>a</header>b only=5'],
  [
    '<a href="HTTPS://Example.com">x</a>',
    '<a href="https://example.com/" rel="noopener noreferrer nofollow" target="_blank">x</a>',
  ],
  [
    '<a href="mailto:a@b.example">x</a>',
    '<a href="mailto:a@b.example" rel="noopener noreferrer nofollow" target="_blank">x</a>',
  ],
  ['<a href="/relative">x</a>', 'x'],
  [
    '<a href="https://a.example">x <a href="https://b.example">y</a></a>',
    '<a href="https://a.example/" rel="noopener noreferrer nofollow" target="_blank">x </a><a href="https://b.example/" rel="noopener noreferrer nofollow" target="_blank">y</a>',
  ],
  ['<img src="https://a.example/a.png" alt="a &lt;cat&gt;">', 'a &lt;cat&gt;'],
  [
    '<img src="data:image/jpg;base64,AAAA" width="10" height=20>',
    '<img src="data:image/jpeg;base64,AAAA" width="10" height="20">',
  ],
  ['<p>a<div>b</div>', '<p>a</p><div>b</div>'],
  [
    '<table>a<tr><td>b<tr><th>c</table>',
    '<table><tbody><tr><td>a</td></tr><tr><td>b</td></tr><tr><th>c</th></tr></tbody></table>',
  ],
  ['<td>a</td><tr>b', 'ab'],
  ['<ul><li>a<li>b</ul>', '<ul><li>a</li><li>b</li></ul>'],
  ['a<wbr>b<br>c<hr>', 'a<wbr>b<br>c<hr>'],
  ['<b>x</b>&nbsp;&amp;&lt;"\'', '<b>x</b>&nbsp;&amp;&lt;"\''],
  [
    '<p style="color:#FF0000; MARGIN: 0 auto !important; position:fixed">x</p>',
    '<p style="color:#ff0000;margin:0 auto">x</p>',
  ],
  ['<p style="font-size:1.5em">x</p>', '<p style="font-size:1.5rem">x</p>'],
  [
    '<p style="grid-template-columns:repeat(auto-fit, minmax(120px, 1fr));border:1px solid rgba(0,0,0,.1)">x</p>',
    '<p style="grid-template-columns:repeat(auto-fit, minmax(120px, 1fr));border:1px solid rgba(0, 0, 0, .1)">x</p>',
  ],
  ['<progress value="3" max="10"></progress>', '<progress value="3" max="10"></progress>'],
  ['<div style="background:red;height:4px"></div>', '<div style="background:red;height:4px"></div>'],
  ['<button>Buy</button><select><option>a</select>!', 'Buy!'],
]

for (const [dirty, html] of cards)
  test(`a card is kept, and nested as a browser nests it: ${dirty.slice(0, 60)}`, () => {
    assert.equal(cleanHtml(dirty).html, html)
    judgeClean(dirty)
  })

test('what was removed is said, each thing once', () => {
  const { removed } = cleanHtml(
    '<p onclick=a>x</p><p onclick=b style="position:fixed">y</p><script>z</script><a href=javascript:1>q</a>',
  )
  assert.deepEqual(removed, ['onclick of <p>', 'style position', '<script>', 'href of <a>'])
})

test('a fragment with nothing to see is none', () => {
  for (const dirty of [
    '',
    ' \n',
    '&nbsp;',
    '<div><b></b></div>',
    '<script>x</script>',
    '<br>',
    '<img src=x>',
    '<table></table>',
    '\u200b',
    '<div style="background:none"></div>',
  ])
    assert.equal(cleanHtml(dirty).html, undefined, dirty)
})

test('a fragment that is too large or nested without end is none, and that is said', () => {
  assert.deepEqual(cleanHtml('x'.repeat(htmlBytesMax + 1)), { removed: ['html: longer than 100000 bytes'] })
  assert.equal(cleanHtml('x'.repeat(htmlBytesMax)).html?.length, htmlBytesMax)
  // What grows beyond the limit only in cleaning.
  assert.deepEqual(cleanHtml('"&'.repeat(40_000)), { removed: ['html: longer than 100000 bytes'] })
  for (const tag of ['b', 'div', 'x', 'svg', 'table'])
    assert.deepEqual(
      cleanHtml(`<${tag}>`.repeat(10_000) + 'x').removed.at(-1),
      'html: nested deeper than 256',
    )
})

test('elements nested deeper than browsers would go lose their tags and keep their text', () => {
  const { html } = cleanHtml(`${'<div>'.repeat(200)}x${'</div>'.repeat(200)}y`)
  assert.equal(html?.match(/<div>/g)?.length, 100)
  judgeClean(`${'<div>'.repeat(200)}x`)
})

const vocabulary = [
  ...[...tags].flatMap((tag) => [
    `<${tag}>`,
    `</${tag}>`,
    `<${tag} style="color:red;margin:4px" title='a"b<c>' onclick=x>`,
  ]),
  ...'svg math style script template noscript textarea select option form button title iframe foreignObject mtext body head html frameset font center nobr'
    .split(' ')
    .flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
  '<a href="https://a.example/?a=1&b=2">',
  '<img src="data:image/png;base64,AAAA" alt="x">',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '"',
  "'",
  '<',
  '>',
  '&',
  '&amp;',
  '&lt;',
  '&#13;',
  '&nbsp;',
  '\n',
  ' ',
  'x',
  'é',
  '\u0000',
  '\u202e',
  '\ud800',
  '=',
  '/',
  '&#x202e;',
  '\f',
  '\r\n',
]
const fragments = fc
  .array(fc.oneof(fc.constantFrom(...vocabulary), fc.string({ maxLength: 4 })), { maxLength: 30 })
  .map((all) => all.join(''))

test('whatever comes in, only what is allowed goes out, and it parses to itself', () => {
  fc.assert(fc.property(fragments, judgeClean), { numRuns: 6_000 })
})

const styleParts = fc
  .array(
    fc.constantFrom(
      'color',
      'background',
      'position',
      'margin',
      'font',
      'width',
      'top',
      ':',
      ':',
      ';',
      ' ',
      'red',
      'fixed',
      'relative',
      '-5px',
      '5px',
      '99999px',
      '0',
      '%',
      '(',
      ')',
      'url(',
      'rgba(',
      'calc(',
      'repeat(',
      'linear-gradient(',
      'var(',
      ',',
      '/',
      '\\',
      '/*',
      '*/',
      '"',
      "'",
      '!important',
      '#fff',
      '{',
      '}',
      '<',
      '&',
      '@import',
      '\n',
      '--x',
      'é',
    ),
    { maxLength: 14 },
  )
  .map((all) => all.join(''))

test('whatever stands in a style, only declarations that are understood go out', () => {
  fc.assert(
    fc.property(styleParts, (style) => {
      judgeClean(`<p style="${style.replaceAll('"', '&quot;')}">x</p>`)
      judgeClean(`<p style="color:red;${style.replaceAll('"', '&quot;')};width:1px">x</p>`)
    }),
    { numRuns: 4_000 },
  )
})
