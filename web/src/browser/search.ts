/** Values stay strings (`02139`, `true`, `null`); the first of a repeated key counts. */
export function parseSearch(text: string): Record<string, string> {
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
