/** What a page's address carries after the question mark: plain text, as typed. */
export type Search = Record<string, string>

/** Values stay strings (`02139`, `true`, `null`); of a key that comes twice the first counts. */
export function parseSearch(text: string): Search {
  const values = new Map<string, string>()
  for (const [key, value] of new URLSearchParams(text)) if (!values.has(key)) values.set(key, value)
  return Object.fromEntries(values)
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(search)) if (typeof value === 'string') params.set(key, value)
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}
