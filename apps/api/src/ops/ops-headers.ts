import { pageHeaders } from '../http/security-headers.ts'

// With no-referrer, as elsewhere, browsers would not say which page a form was sent from.
const privatePage = { ...pageHeaders, 'cache-control': 'no-store', 'referrer-policy': 'same-origin' }

const policy = (...rules: string[]) => ["default-src 'none'", ...rules, "frame-ancestors 'none'"].join('; ')

/** For the pages with a form: no script at all. */
export const formHeaders = {
  ...privatePage,
  'content-security-policy': policy("style-src 'self'", "base-uri 'none'", "form-action 'self'"),
}

/** For the board: its own scripts, styles and fonts, and nothing from anywhere else. */
export const boardHeaders = {
  ...privatePage,
  'content-security-policy': policy(
    "script-src 'self'",
    "worker-src 'self'",
    // The board sets style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    // Its page names the folder that its files are in.
    "base-uri 'self'",
    "form-action 'none'",
  ),
}

/** For its files, which are the same for everybody who may have them. */
export const fileHeaders = { ...boardHeaders, 'cache-control': 'private, max-age=3600' }
