/** Text with user input marked, so that each rendering can escape or isolate it. */
export type RichText = readonly (string | { userInput: string })[]

/** A template tag: ``richText`Hello ${name},` ``. All substitutions are treated as user input. */
export function richText(ours: TemplateStringsArray, ...userInput: string[]): RichText {
  return ours.flatMap((part, index) => {
    const value = userInput[index]
    return value === undefined ? [part] : [part, { userInput: value }]
  })
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Renders plain text. Right-to-left input is isolated (U+2068, U+2069), so that it cannot reorder the rest. */
export function asText(text: RichText): string {
  return text
    .map((part) => {
      if (typeof part === 'string') return part
      return rightToLeft.test(part.userInput) ? `\u2068${part.userInput}\u2069` : part.userInput
    })
    .join('')
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character)
}

export function asHtml(text: RichText): string {
  return text
    .map((part) => (typeof part === 'string' ? escapeHtml(part) : `<bdi>${escapeHtml(part.userInput)}</bdi>`))
    .join('')
}
