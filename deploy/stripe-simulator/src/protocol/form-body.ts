/**
 * The API's request encoding: `line_items[0][price_data][currency]=usd`. Brackets nest, digits index an array,
 * an empty pair appends. Everything is a string until a parameter's decoder says what it should be.
 */

export type FormValue = string | FormObject
export interface FormObject {
  [key: string]: FormValue
}

const maxDepth = 12
const maxFields = 2000

/** Without a prototype, so that `__proto__` and `constructor` are ordinary parameter names. */
export function emptyForm(): FormObject {
  return Object.create(null) as FormObject
}

/** Never throws: a key that cannot be nested stays literal, and is rejected as unknown later. */
export function parseForm(text: string): FormObject {
  const root = emptyForm()
  let fields = 0
  for (const [name, value] of new URLSearchParams(text)) {
    if (++fields > maxFields) break
    place(root, splitName(name), value)
  }
  return root
}

/** Converts a JSON body to the equivalent form: arrays by index, null as an empty string. */
export function formOf(json: object, depth = 0): FormObject {
  const form = emptyForm()
  for (const [key, value] of Object.entries(json) as [string, unknown][]) {
    if (value === null || value === undefined) form[key] = ''
    else if (typeof value !== 'object') form[key] = typeof value === 'string' ? value : JSON.stringify(value)
    else if (depth < maxDepth) form[key] = formOf(value, depth + 1)
  }
  return form
}

function splitName(name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  const parts = name.slice(open + 1, -1).split('][')
  if (parts.length >= maxDepth || parts.some((part) => /[[\]]/.test(part))) return [name]
  return [name.slice(0, open), ...parts]
}

function place(root: FormObject, path: string[], value: string): void {
  let at = root
  for (const [depth, part] of path.entries()) {
    const key = part === '' && depth > 0 ? String(Object.keys(at).length) : part
    if (depth === path.length - 1) {
      at[key] = value
      return
    }
    const next = at[key]
    if (typeof next === 'object') {
      at = next
    } else {
      const made = emptyForm()
      at[key] = made
      at = made
    }
  }
}
