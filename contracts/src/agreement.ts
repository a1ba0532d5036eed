import { z } from 'zod'
import { plainDate } from './fields.ts'

/**
 * What somebody agrees to by going on to pay: what is bought, what it costs now and later, and by which terms. A page
 * composes or repeats it, the server composes its own for the same request, and the two are compared whole.
 */
export const agreementTermsSchema = z.object({
  kind: z.enum(['registration', 'order', 'membership', 'plan_change']),
  /** What is paid for: `class:basic`, `product:robot-spider`, `membership:monthly`. Amounts are cents. */
  lines: z.array(z.object({ sku: z.string(), quantity: z.int(), unitAmount: z.int() })),
  /** The class date that comes with it, `YYYY-MM-DD`; null where there is none. */
  date: plainDate.nullable(),
  currency: z.literal('usd'),
  /** Cents that are charged at once. */
  dueNow: z.int(),
  /** Cents of what was paid before that are taken off. */
  credit: z.int(),
  /** What is charged again and again; null where nothing is. */
  renewal: z
    .object({
      plan: z.enum(['monthly', 'yearly']),
      amount: z.int(),
      /** The day of the next charge, `YYYY-MM-DD` in the school's time zone; null where the payment decides it. */
      on: z.iso.date().nullable(),
    })
    .nullable(),
  /** Of the renewal terms; null where there are none. */
  termsVersion: z.string().nullable(),
  /** The second in Unix time that unused time was reckoned for; null where none is. */
  reckonedAt: z.int().nullable(),
})
export type AgreementTerms = z.infer<typeof agreementTermsSchema>

/** An offer as the server makes it, and as it is kept with the consent to it. */
export const agreementSchema = z.object({
  /** The same for the same terms: a SHA-256 of them, in hex. */
  id: z.string(),
  terms: agreementTermsSchema,
  /** No longer offered from then on; null where no end is known. */
  validUntil: z.iso.datetime().nullable(),
})
export type Agreement = z.infer<typeof agreementSchema>

const order = Object.keys(agreementTermsSchema.shape) as (keyof AgreementTerms)[]

/** Terms as text, in one order of fields and lines: equal for equal terms, whoever composed them. */
export function canonicalTerms(terms: AgreementTerms): string {
  const lines = terms.lines
    .map(({ sku, quantity, unitAmount }) => ({ sku, quantity, unitAmount }))
    .toSorted((a, b) => (a.sku < b.sku ? -1 : a.sku > b.sku ? 1 : 0))
  const { renewal } = terms
  const parts: Record<keyof AgreementTerms, unknown> = {
    ...terms,
    lines,
    renewal: renewal && { plan: renewal.plan, amount: renewal.amount, on: renewal.on },
  }
  return JSON.stringify(order.map((name) => parts[name]))
}
