import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolShape } from '@toolyard/contract/tools'
import { builtLines } from './build-tools.ts'
import { toolLines } from './list-tools.ts'
import { createPaint } from '../text/paint.ts'
import { versionLines } from './tool-versions.ts'

const paint = createPaint({}, {})

const tool = (more: Partial<ToolShape>): ToolShape => ({
  name: 'greet',
  description: 'Greets somebody',
  version: '1.0',
  category: null,
  icon: null,
  trigger: { type: 'on_demand' },
  status: 'system',
  enabled: true,
  image: { state: 'ready', hash: 'abcdef0123456789', error: null },
  parameters: {},
  config_schema: {},
  warnings: [],
  ...more,
})

const list = (...tools: ToolShape[]) => toolLines({ tools, count: tools.length }, paint, 60)

test('a list says of each tool whether it can be called, and what is wrong with it', () => {
  const lines = list(
    tool({}),
    tool({ name: 'mail', status: 'available', trigger: { type: 'cron', schedule: '*/30', timezone: 'UTC' } }),
    tool({
      name: 'broken',
      enabled: false,
      description: '',
      image: {
        state: 'error',
        hash: null,
        error: 'manifest.json:3 /name: must be "broken"\nDockerfile: is missing',
      },
    }),
    tool({
      name: 'slow',
      image: { state: 'building', hash: 'ff00', error: null },
      warnings: ['stays read-only'],
    }),
  )
  assert.deepEqual(lines, [
    'TOOL    STATUS          IMAGE     VERSION           TRIGGER',
    'greet   enabled         ready     1.0 abcdef012345  on demand',
    '  Greets somebody',
    'mail    not configured  ready     1.0 abcdef012345  cron */30 UTC',
    '  Greets somebody',
    'broken  disabled        error     -                 on demand',
    '  manifest.json:3 /name: must be "broken"\n  Dockerfile: is missing',
    'slow    enabled         building  1.0 ff00          on demand',
    '  Greets somebody',
    '  stays read-only',
  ])
})

test('the version in a list is the one that answers calls', () => {
  const serving = { version: '1.0', hash: '111111111111aaaa' }
  const [, line] = list(tool({ image: { state: 'building', hash: '222222222222', error: null }, serving }))
  assert.match(line ?? '', /1\.0 111111111111 /)
})

test('no text of a tool steers the terminal that lists it', () => {
  const evil = '\u001b[2J\u202e\rgone'
  const image = { state: 'error' as const, hash: null, error: `build: ${evil}` }
  const lines = list(tool({ name: evil, description: evil, version: evil, image, warnings: [evil] }))
  const built = builtLines([{ name: evil, state: 'error', error: evil }], paint)
  const versions = versionLines(
    [
      {
        hash: evil,
        version: evil,
        found_at: evil,
        served_at: evil,
        is_current: true,
        is_wanted: true,
        is_refused: true,
        images: 1,
      },
    ],
    paint,
  )
  for (const line of [...lines, ...built, ...versions]) assert.doesNotMatch(line, /(?!\n)[\p{Cc}\u202e]/u)
  assert.match(lines.join('\n'), /build: \\u\{1b\}\[2J/)
})

test('what was built is told in a line, and what was not with all that the build said', () => {
  const lines = builtLines(
    [
      { name: 'a', state: 'ready', version: '1.0', hash: '0123456789abcdef' },
      { name: 'b', state: 'error', error: 'Step 2/3 : RUN false\nreturned 1' },
    ],
    paint,
  )
  assert.deepEqual(lines, [
    'ready  a 1.0 0123456789ab',
    'error  b',
    '       Step 2/3 : RUN false\n       returned 1',
  ])
})
