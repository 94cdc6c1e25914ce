import { readFileSync, readdirSync } from 'node:fs'
import { extname } from 'node:path'

// Bull Board's page and files from the installed packages, and the fonts that its page would get from another host.

export type BoardFile = { type: string; bytes: Uint8Array<ArrayBuffer> }

export type BoardFiles = {
  /** The page, made for the folder that the board is in. */
  page: string
  /** By the path below that folder; undefined for everything that is not on the list. */
  find(path: string): BoardFile | undefined
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const fontSheet = 'static/fonts.css'
const fonts = [
  {
    family: 'IBM Plex Sans',
    name: 'ibm-plex-sans',
    package: import.meta.resolve('@fontsource/ibm-plex-sans/package.json'),
    weights: [400, 500, 600],
  },
  {
    family: 'IBM Plex Mono',
    name: 'ibm-plex-mono',
    package: import.meta.resolve('@fontsource/ibm-plex-mono/package.json'),
    weights: [400, 500],
  },
]

export const boardFolder = new URL('dist/', import.meta.resolve('@bull-board/ui/package.json'))

export function readBoardFiles(basePath: string, uiConfig: object): BoardFiles {
  const places = new Map<string, URL>()
  const folder = new URL('static/', boardFolder)
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = entry.replaceAll('\\', '/')
    if (types[extname(path)] !== undefined) places.set(`static/${path}`, new URL(path, folder))
  }
  const faces = fonts.flatMap(({ family, name, weights, ...font }) =>
    weights.map((weight) => {
      const file = `${name}-latin-${weight}-normal.woff2`
      places.set(`static/${file}`, new URL(`files/${file}`, font.package))
      return `@font-face { font-family: '${family}'; font-weight: ${weight}; font-display: swap; src: url('${file}') format('woff2') }`
    }),
  )
  const files = new Map<string, BoardFile>([
    [fontSheet, { type: types['.css'] ?? '', bytes: new TextEncoder().encode(faces.join('\n')) }],
  ])
  return {
    page: makePage(readFileSync(new URL('index.ejs', boardFolder), 'utf8'), basePath, uiConfig),
    find(path) {
      const known = files.get(path)
      const place = places.get(path)
      if (known !== undefined || place === undefined) return known
      // Read when first asked for, since most processes never show the board, and then kept.
      const file = { type: types[extname(path)] ?? '', bytes: new Uint8Array(readFileSync(place)) }
      files.set(path, file)
      return file
    },
  }
}

/** Fills the template and puts our fonts in the place of those from another host. */
function makePage(template: string, basePath: string, uiConfig: object): string {
  const values: Readonly<Record<string, string>> = {
    basePath,
    title: 'Toolyard queues',
    favIconDefault: 'static/images/logo.svg',
    favIconAlternative: 'static/favicon-32x32.png',
    // Inside a script element, which a "<" could end.
    uiConfig: JSON.stringify(uiConfig).replaceAll('<', String.raw`\u003c`),
  }
  const page = template
    .replaceAll(/<%[-=] *(\w+) *%>/g, (whole, name: string) => values[name] ?? whole)
    .replace(
      /<link href="https:\/\/fonts\.googleapis\.com\/[^>]*>/,
      `<link href="${fontSheet}" rel="stylesheet">`,
    )
  // Another release may want more: better told at the start than found missing, or loaded from somewhere.
  const odd = /<%|(?:src|href)="(?:[a-z]+:)?\/\/[^"]*/i.exec(page)
  if (odd !== null) throw new Error(`The page of @bull-board/ui has changed: ${odd[0]}`)
  return page
}
