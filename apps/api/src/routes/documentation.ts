import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createMiddleware } from 'hono/factory'
import type { Api } from '../create-api.ts'
import type { ApiEnv } from '../http/api-env.ts'
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

const packageFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** The only files of the package that are served. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

export function addDocumentationRoutes(api: Api): void {
  api.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `yk_…`. The first one is in the data directory, in `admin.key`.',
  })
  // Made once: the routes do not change while the process lives.
  let document: object | undefined
  api.get('/openapi.json', (c) => {
    document ??= api.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Toolyard', version: '1', description: 'Runs tools for AI agents.' },
    })
    return c.json(document)
  })
  const cached = createMiddleware<ApiEnv>(async (c, next) => {
    await next()
    c.header('cache-control', 'public, max-age=3600')
  })
  api.get('/docs', pageHeaders, cached, (c) => c.html(page))
  api.get('/docs/start.js', pageHeaders, cached, (c) =>
    c.body(startScript, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  )
  for (const [name, type] of Object.entries(assets)) {
    api.get(`/docs/${name}`, pageHeaders, cached, async (c) => {
      const bytes = new Uint8Array(await readFile(join(packageFolder, name)))
      return c.body(bytes, 200, { 'content-type': type })
    })
  }
}
