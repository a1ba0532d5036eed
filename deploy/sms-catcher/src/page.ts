import type { TextMessage } from './app.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character)
}

const style = `
body { margin: 0 auto; max-width: 40rem; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; color: #12233d; background: #f2f1ea }
h1 { font-size: 1.5rem }
ol { list-style: none; padding: 0 }
li { margin: 0 0 1rem; padding: 1rem; background: #fff; border: 1px solid #d8dce3; border-radius: .75rem }
h2 { margin: 0; font-size: 1rem }
time { color: #4a5a73; font-size: .875rem }
pre { margin: .5rem 0 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }`

/** Where a person reads what came; it looks again by itself. */
export function renderPage(newestFirst: readonly TextMessage[]): string {
  const items = newestFirst.map(
    ({ to, text, receivedAt }) =>
      `<li><h2>To ${escapeHtml(to)}</h2><time datetime="${receivedAt}">${receivedAt}</time><pre>${escapeHtml(text)}</pre></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>Text messages (${newestFirst.length})</title>
<style>${style}</style>
</head>
<body>
<h1>Text messages</h1>
${items.length === 0 ? '<p>None yet. Every text message the site sends shows up here.</p>' : `<ol>${items.join('\n')}</ol>`}
</body>
</html>
`
}
