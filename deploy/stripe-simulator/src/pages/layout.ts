import { createHash } from 'node:crypto'

import { NOTE } from './drawings.ts'
import { html, Html } from './html.ts'
import { PAY_SCRIPT } from './pay-script.ts'
import { STYLES } from './styles.ts'

// Made here and not in the markup below: the policy's hashes are those of the exact text between the tags.
const STYLE_ELEMENT = new Html(`<style>${STYLES}</style>`)
const SCRIPT_ELEMENT = new Html(`<script>${PAY_SCRIPT}</script>`)

export function layout(page: { title: string; body: Html; script?: boolean }): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${page.title}</title>
        <link rel="icon" href="data:," />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header class="banner">${NOTE}<span>Payment simulator: no real card is charged</span></header>
        ${page.body} ${page.script === true && SCRIPT_ELEMENT}
      </body>
    </html> `.text
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const STYLE_HASH = hash(STYLES)
const SCRIPT_HASH = hash(PAY_SCRIPT)

/**
 * The page may use its own sheet and script and nothing else. Browsers hold redirects after a form to `form-action` too,
 * so the merchant's addresses that a payment leads to are in it.
 */
export function pageHeaders(leadsTo: readonly (string | null)[] = []): Record<string, string> {
  const origins = new Set(leadsTo.filter((url) => url !== null).map((url) => new URL(url).origin))
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      `style-src ${STYLE_HASH}`,
      `script-src ${SCRIPT_HASH}`,
      'img-src data:',
      "connect-src 'self'",
      ["form-action 'self'", ...origins].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}
