import { readFileSync } from 'node:fs'
import type { Api } from '../create-api.ts'
import { pageHeaders } from '../http/security-headers.ts'

// The page is Swagger UI from the installed package: nothing comes from another host, so it works without a network.

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Toolyard API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

// No validator: it would send the document to a host of its maker.
const startScript = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#page', validatorUrl: null, deepLinking: true })\n`

const packageFolder = new URL('.', import.meta.resolve('swagger-ui-dist/package.json'))

const javascript = 'text/javascript; charset=utf-8'

/** The only files of the package that are served. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': javascript,
  'favicon-32x32.png': 'image/png',
}

export function addDocumentationRoutes(api: Api): void {
  api.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `yk_…`. The first one is in the data directory, in `admin.key`.',
  })
  // Made once: the routes do not change while the process lives, and anybody may ask.
  let document: string | undefined
  api.get('/openapi.json', (c) => {
    document ??= JSON.stringify(
      api.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Toolyard', version: '1', description: 'Runs tools for AI agents.' },
      }),
      withoutFlags,
    )
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  api.get('/docs', (c) => c.html(page, 200, pageHeaders))
  api.get('/docs/start.js', (c) => c.body(startScript, 200, { ...pageHeaders, 'content-type': javascript }))
  for (const [name, type] of Object.entries(assets)) {
    // Read once, so that who asks often, or takes its time to read, costs neither the disk nor a copy.
    const bytes = new Uint8Array(readFileSync(new URL(name, packageFolder)))
    api.get(`/docs/${name}`, (c) => c.body(bytes, 200, { ...pageHeaders, 'content-type': type }))
  }
}

// The generator writes a pattern with the flags of its expression behind it, where they would be a part of it.
function withoutFlags(name: string, value: unknown): unknown {
  return name === 'pattern' && typeof value === 'string' ? value.replace(/(?<!\\)\/[a-z]+$/, '') : value
}
