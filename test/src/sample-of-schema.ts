import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { z } from 'zod'

type JsonSchema = z.core.JSONSchema.JSONSchema

function textOf({ format, pattern, minLength = 1, maxLength = 1_000 }: JsonSchema): string {
  if (format === 'uuid') return randomUUIDv7()
  if (format === 'email') return `maren.${randomUUIDv7()}@example.com`
  if (format === 'date') return '1990-02-28'
  if (format === 'date-time') return '2027-01-08T16:00:00Z'
  if (format === 'uri') return 'https://robokids.example/'
  if (pattern !== undefined) {
    try {
      return fc.sample(fc.stringMatching(new RegExp(pattern)), 1)[0] ?? ''
    } catch {
      // Lookaheads, for example, are not supported: any text is used.
    }
  }
  return 'Sample'.padEnd(minLength, 'e').slice(0, maxLength)
}

function sample(schema: JsonSchema | boolean): unknown {
  if (typeof schema === 'boolean') return 'anything'
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const [one] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  if (one !== undefined) return sample(one)
  const type = [schema.type].flat()[0]
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, of]) => [name, sample(of as JsonSchema)]),
    )
  if (type === 'array') return [sample((schema.items ?? true) as JsonSchema)]
  if (type === 'string') return textOf(schema)
  if (type === 'boolean') return true
  if (type === 'number' || type === 'integer') return Math.min(Math.max(9, schema.minimum ?? 9), schema.maximum ?? 9)
  if (type === 'null') return null
  return 'anything'
}

/** Returns a sample of a schema, with all fields of the right type. Rules between fields are not observed. */
export function sampleOfSchema(schema: unknown): unknown {
  if (!(schema instanceof z.core.$ZodType)) return undefined
  const read = (io: 'input' | 'output') => sample(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  const given = read('input')
  // A preprocessed schema accepts anything as input; its output type has the fields.
  return given === 'anything' ? read('output') : given
}
