import { createHash } from 'node:crypto'
import { note } from './drawings.ts'
import { html, Html } from './html.ts'
import { payScript } from './pay-script.ts'
import { styles } from './styles.ts'

// Built here and not in the markup below: the policy's hashes cover the exact text between the tags.
const styleElement = new Html(`<style>${styles}</style>`)
const scriptElement = new Html(`<script>${payScript}</script>`)

export function layout(page: { title: string; body: Html; script?: boolean }): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${page.title}</title>
        <link rel="icon" href="data:," />
        ${styleElement}
      </head>
      <body>
        <header class="banner">${note}<span>Payment simulator: no real card is charged</span></header>
        ${page.body} ${page.script === true && scriptElement}
      </body>
    </html> `.text
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const styleHash = hash(styles)
const scriptHash = hash(payScript)

/**
 * Allows only the page's own style sheet and script. Browsers apply `form-action` to redirects after a form as well,
 * so it includes the merchant's return URLs.
 */
export function pageHeaders(leadsTo: readonly (string | null)[] = []): Record<string, string> {
  const origins = new Set(leadsTo.filter((url) => url !== null).map((url) => new URL(url).origin))
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      `style-src ${styleHash}`,
      `script-src ${scriptHash}`,
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
