import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBadServer } from './fixtures/bad-server.ts'
import { openTool } from './fixtures/run-tool.ts'

const page = `<!doctype html><html lang="en"><head><title>Tea &amp; more</title><meta name="description" content="On tea">
<style>p{color:red}</style><base href="https://example.com/guide/"></head><body>
<nav><a href="/home">Home</a></nav>
<main><h1>How to   make tea</h1><p>Boil <b>fresh</b>
water.<br>Pour it {slowly}.</p><ul><li>Two spoons<li>Four minutes</ul>
<table><tr><th>Kind<th>Heat<tr><td>Green<td>70</table><pre>a
  b</pre><p hidden>unseen</p><p>${'It takes patience. '.repeat(12)}</p>
<a href="more?x=1#top">More</a> <a href="javascript:alert(1)">Bad</a> <a href="mailto:a@b.c">Mail</a> <a href="#x">Here</a></main>
<script>document.write("<p>evil</p>")</script><footer>Imprint</footer></body></html>`

test('of a page it gives the title, the text in order and the links', async (t) => {
  const tool = await openTool(t, 'html_extract')
  const { text, data } = await tool.succeed({ html: page })
  assert.match(text, /^Tea & more\n/)
  // safe because the manifest says what data has, and what is read is compared
  const found = data as Record<string, unknown>
  assert.equal(
    found['text'],
    [
      '# How to make tea',
      'Boil fresh water.\nPour it {slowly}.',
      '- Two spoons\n- Four minutes',
      '| Kind | Heat\n| Green | 70',
      'a\n  b',
      'It takes patience. '.repeat(12).trim(),
      'More Bad Mail Here',
    ].join('\n\n'),
  )
  assert.deepEqual([found['title'], found['description'], found['language']], ['Tea & more', 'On tea', 'en'])
  assert.deepEqual(found['links'], [
    { text: 'Home', url: 'https://example.com/home' },
    { text: 'More', url: 'https://example.com/guide/more?x=1' },
  ])
  const links = await tool.succeed({ html: page, show: 'links' })
  assert.match(links.text, /\n- More: https:\/\/example\.com\/guide\/more\?x=1$/)
})

test('long text is read on at an offset', async (t) => {
  const tool = await openTool(t, 'html_extract')
  const html = `<p>${'0123456789'.repeat(1_000)}`
  assert.match(
    (await tool.succeed({ html })).text,
    /Characters 0 to 2400 of 10000 follow; for more set offset to 2400\./,
  )
  assert.match((await tool.succeed({ html, offset: 9_997 })).text, /\n\n789$/)
})

test('broken and hostile markup ends in time, and costs no words that can be had', async (t) => {
  const tool = await openTool(t, 'html_extract')
  const textOf = async (html: string) => (await tool.succeed({ html })).text
  assert.match(await textOf('just words'), /just words$/)
  assert.match(await textOf('<title>never closed<p>words'), /words$/)
  assert.match(await textOf('<head><meta charset=x><p>words'), /words$/)
  assert.match(await textOf(`${'<div>'.repeat(100_000)}deep`), /deep$/)
  assert.match(await textOf('&#xD800;&#0;<p>words'), /words$/)
  assert.match(await textOf(''), /The page has no text\.$/)
  for (const part of [
    '<',
    '<!--',
    '<!a',
    '<a ',
    '<a x="',
    '</',
    '<?',
    '<![CDATA[',
    '<li>x',
    '<tr><td>',
    '&#',
  ])
    assert.ok((await textOf(part.repeat(2_000_000 / part.length))).length > 0, part)
})

test('what cannot be read in time is left out, and that is said', async (t) => {
  const tool = await openTool(t, 'html_extract', { cpus: 0.1 })
  const { text } = await tool.succeed({ html: '<li>words'.repeat(110_000) })
  assert.match(text, /Only a part of the page could be read in time\.\n[^]*- words\n- words/)
})

test('a page is fetched, and what is no page is an error', async (t) => {
  const { origin } = await startBadServer(t)
  const tool = await openTool(t, 'html_extract', { network: 'host' })
  const settings = { allow_private_addresses: true }
  const { text, data } = await tool.succeed({ url: `${origin}/page` }, { settings })
  assert.equal(text, `A page\n${origin}/page\n\nWords (and) more\n\nNext`)
  // safe because the manifest says what data has, and what is read is compared
  assert.deepEqual((data as { links: unknown }).links, [{ text: 'Next', url: `${origin}/next?a=1` }])
  const failures: [string, RegExp, string][] = [
    ['/missing', /^The server answered 404 Not Found for /, 'external'],
    ['/away', /redirects to http:\/\/localhost:\d+\/echo, another host/, 'external'],
    ['/loop', /redirects more than 5 times/, 'external'],
    ['/json', /is application\/json, not a page: fetch it with http_get\.$/, 'internal'],
  ]
  for (const [path, message, failureClass] of failures) {
    const failure = await tool.fail({ url: `${origin}${path}` }, { settings })
    assert.match(failure.message, message)
    assert.equal(failure.failure_class, failureClass)
  }
  assert.match((await tool.fail({ url: `${origin}/page` })).message, /not public/)
  assert.match((await tool.fail({})).message, /Give the address of a page/)
})
