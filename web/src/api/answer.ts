/**
 * Validates the contracts' responses in the browser without the 27 KB of zod: `answers/*.json` are their
 * JSON Schemas (`answers.test.ts` writes them with `vitest -u`, and fails when they are stale). A zod schema of the
 * contracts also fits, where zod is loaded anyway.
 */
export interface Answer<T> {
  safeParse: (content: unknown) => { success: true; data: T } | { success: false }
}

/** The part of JSON Schema that our responses need. */
export interface Shape {
  type?: string | string[]
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  /** The schema of a record's values. */
  additionalProperties?: Shape
  enum?: unknown[]
  const?: unknown
  anyOf?: Shape[]
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

const isOfType: Record<string, (value: unknown) => boolean> = {
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

function fits(shape: Shape, value: unknown): boolean {
  if (shape.anyOf) return shape.anyOf.some((one) => fits(one, value))
  if (shape.type !== undefined && ![shape.type].flat().some((type) => isOfType[type]?.(value))) return false
  if ('const' in shape && value !== shape.const) return false
  if (shape.enum && !shape.enum.includes(value)) return false
  if (typeof value === 'number') return value >= (shape.minimum ?? -Infinity) && value <= (shape.maximum ?? Infinity)
  if (Array.isArray(value)) {
    const { items = {}, minItems = 0, maxItems = Infinity } = shape
    return value.length >= minItems && value.length <= maxItems && value.every((item) => fits(items, item))
  }
  if (typeof value !== 'object' || value === null) return true
  const record = value as Record<string, unknown>
  const { additionalProperties: each } = shape
  return (
    (!each || Object.values(record).every((inner) => fits(each, inner))) &&
    (shape.required ?? []).every((key) => Object.hasOwn(record, key)) &&
    Object.entries(shape.properties ?? {}).every(
      ([key, inner]) => !Object.hasOwn(record, key) || fits(inner, record[key]),
    )
  )
}

export function answer<T>(shape: Shape): Answer<T> {
  return { safeParse: (content) => (fits(shape, content) ? { success: true, data: content as T } : { success: false }) }
}

/** A response whose content is not used. */
export const done: Answer<object> = answer({ type: 'object' })
