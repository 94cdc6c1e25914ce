import { html } from 'hono/html'

// Two pages with a form each, and no script.

const page = (title: string, body: ReturnType<typeof html>) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/ops/form.css" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `

export const signInPage = (refusal = '') =>
  page(
    'Toolyard queues',
    html`<form method="post" action="/ops/sign-in">
      <label for="key">A key with <code>ops:view</code>; with <code>tools:manage</code> it may act too</label>
      <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required autofocus />
      ${refusal === '' ? '' : html`<p role="alert">${refusal}</p>`}
      <button>Sign in</button>
    </form>`,
  )

export const signOutPage = () =>
  page('Toolyard queues', html`<form method="post" action="/ops/sign-out"><button>Sign out</button></form>`)

export const formStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0; min-height: 100vh; display: grid; place-items: center }
main { width: min(26rem, 90vw) }
h1 { font-size: 1.25rem }
form { display: grid; gap: .75rem }
input, button { font: inherit; padding: .5rem .75rem }
[role=alert] { margin: 0; color: light-dark(#a40000, #ff8a80) }
`
