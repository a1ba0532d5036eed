import { z } from 'zod'
import { plainDate } from './fields.ts'

/**
 * The terms that a buyer accepts before paying: the items, the price now and later, and the version of the renewal terms.
 * The page sends the terms that it showed; the server composes its own for the same request and compares the two.
 */
export const agreementTermsSchema = z.object({
  kind: z.enum(['registration', 'order', 'membership', 'plan_change']),
  /** The items: `class:basic`, `product:robot-spider`, `membership:monthly`. Amounts are in cents. */
  lines: z.array(z.object({ sku: z.string(), quantity: z.int(), unitAmount: z.int() })),
  /** The class date, `YYYY-MM-DD`; null if the purchase has none. */
  date: plainDate.nullable(),
  currency: z.literal('usd'),
  /** Cents charged immediately. */
  dueNow: z.int(),
  /** Cents of earlier payments that are deducted. */
  credit: z.int(),
  /** The recurring charge; null if there is none. */
  renewal: z
    .object({
      plan: z.enum(['monthly', 'yearly']),
      amount: z.int(),
      /** The day of the next charge, `YYYY-MM-DD` in the school's time zone; null if it depends on when the payment is made. */
      on: z.iso.date().nullable(),
    })
    .nullable(),
  /** The version of the renewal terms; null if nothing renews. */
  termsVersion: z.string().nullable(),
  /** The Unix time (seconds) for which the credit for unused time was calculated; null if there is no credit. */
  reckonedAt: z.int().nullable(),
})
export type AgreementTerms = z.infer<typeof agreementTermsSchema>

/** An offer as the server makes it, and as it is stored with the buyer's consent. */
export const agreementSchema = z.object({
  /** The hex SHA-256 of the terms: equal terms have equal ids. */
  id: z.string(),
  terms: agreementTermsSchema,
  /** When the offer ends; null if no end is known. */
  validUntil: z.iso.datetime().nullable(),
})
export type Agreement = z.infer<typeof agreementSchema>

const order = Object.keys(agreementTermsSchema.shape) as (keyof AgreementTerms)[]

/** Returns the terms as text with a fixed order of fields and lines, so that equal terms give equal text. */
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
