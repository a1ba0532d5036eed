import { escapeHtml } from '../../sms-catcher/src/page.ts'

/** The parts of the AsyncAPI document that a page shows. */
export interface EventDocument {
  info: { title: string }
  channels: Record<string, { description: string }>
  operations: Record<string, { action: 'send' | 'receive'; channel: { $ref: string } }>
  components: { messages: Record<string, { payload: { allOf: unknown[] }; examples: { payload: unknown }[] }> }
}

const layout = (title: string, content: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
  body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: #14213d; background: #fbfaf7; }
  h1 { font-size: 1.75rem; } h2 { margin-top: 2.5rem; font-size: 1.2rem; }
  a { color: #a33b00; } summary { cursor: pointer; padding: 0.5rem 0; }
  pre { overflow: auto; padding: 1rem; border: 1px solid #ddd8cc; border-radius: 8px; background: #fff; font-size: 0.85rem; }
</style>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</html>
`

/** An index of all documents. */
export function renderIndex(processes: string[]): string {
  const items = processes.map((name) => `<li><a href="/${name}">${name}</a>`)
  return layout(
    'APIs of Robo Kids Learning',
    `<ul>${items.join('')}<li><a href="/events">events</a></ul>
<p>Browsers and everybody outside call the bff alone; the services are called by it and by operators.</p>`,
  )
}

/** Each event with its producer, its consumers, its data and a sample. */
export function renderEvents({ info, channels, operations, components }: EventDocument): string {
  const who = (type: string, action: string) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.action === action && operation.channel.$ref.endsWith(`/${type}`))
      .map(([name]) => name.slice(0, name.indexOf(' ')))
      .join(', ')
  const code = (value: unknown) => `<pre>${escapeHtml(JSON.stringify(value, undefined, 2))}</pre>`
  const sections = Object.entries(channels).map(([type, { description }]) => {
    const message = components.messages[type]
    return `<h2 id="${type}">${type}</h2>
<p>Published by ${who(type, 'send')}, consumed by ${who(type, 'receive') || 'no service'}. ${escapeHtml(description)}</p>
<details><summary>Sample</summary>${code(message?.examples[0]?.payload)}</details>
<details><summary>Schema</summary>${code(message?.payload.allOf[1])}</details>`
  })
  const links = Object.keys(channels).map((type) => `<a href="#${type}">${type}</a>`)
  return layout(info.title, `<nav aria-label="Events">${links.join(' · ')}</nav>${sections.join('\n')}`)
}
