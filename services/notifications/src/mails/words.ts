/** A sentence of ours with what people typed inside it, kept apart so that each rendering treats it rightly. */
export type Words = readonly (string | { typed: string })[]

/** Tags a template: ``say`Hello ${name},` ``. What is filled in is taken as typed, whatever it holds. */
export function say(ours: TemplateStringsArray, ...typed: string[]): Words {
  return ours.flatMap((part, index) => {
    const value = typed[index]
    return value === undefined ? [part] : [part, { typed: value }]
  })
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** As plain text, word for word. Right-to-left names are isolated (U+2068, U+2069), so that they cannot reorder the rest. */
export function asText(words: Words): string {
  return words
    .map((part) => {
      if (typeof part === 'string') return part
      return rightToLeft.test(part.typed) ? `\u2068${part.typed}\u2069` : part.typed
    })
    .join('')
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character)
}

export function asHtml(words: Words): string {
  return words
    .map((part) => (typeof part === 'string' ? escapeHtml(part) : `<bdi>${escapeHtml(part.typed)}</bdi>`))
    .join('')
}
