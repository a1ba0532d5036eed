/** A sentence of ours with what people typed inside it, kept apart so that each rendering treats it rightly. */
export type RichText = readonly (string | { userInput: string })[]

/** Tags a template: ``richText`Hello ${name},` ``. What is filled in is taken as typed, whatever it holds. */
export function richText(ours: TemplateStringsArray, ...userInput: string[]): RichText {
  return ours.flatMap((part, index) => {
    const value = userInput[index]
    return value === undefined ? [part] : [part, { userInput: value }]
  })
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** As plain text, word for word. Right-to-left names are isolated (U+2068, U+2069), so that they cannot reorder the rest. */
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
