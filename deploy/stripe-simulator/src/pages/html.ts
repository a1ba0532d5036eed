/** Markup that escapes every inserted value unless it is markup itself. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Insert = Html | string | number | null | undefined | false | readonly Html[]

export function html(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Html {
  let text = parts[0] ?? ''
  for (const [index, insert] of inserts.entries()) {
    text += render(insert) + (parts[index + 1] ?? '')
  }
  return new Html(text)
}

function render(insert: Insert): string {
  if (insert === null || insert === undefined || insert === false) return ''
  if (insert instanceof Html) return insert.text
  if (typeof insert === 'string') return escape(insert)
  return typeof insert === 'number' ? String(insert) : insert.map((one) => one.text).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
