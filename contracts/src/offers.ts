/* In a file without zod: the page and the server compose the terms with the same functions. */
import type { AgreementTerms } from './agreement.ts'
import { payableChildren } from './pricing.ts'

const once = { currency: 'usd', credit: 0, renewal: null, termsVersion: null, reckonedAt: null } as const

/** Returns the terms of a registration: `unitAmount` cents per paid seat. */
export function registrationTerms(registration: {
  classType: string
  /** `YYYY-MM-DD` */
  startDate: string
  children: number
  siblingJoinsFree: boolean
  unitAmount: number
}): AgreementTerms {
  const { classType, startDate, children, siblingJoinsFree, unitAmount } = registration
  const quantity = payableChildren(children, siblingJoinsFree)
  return {
    ...once,
    kind: 'registration',
    lines: [{ sku: `class:${classType}`, quantity, unitAmount }],
    date: startDate,
    dueNow: quantity * unitAmount,
  }
}

/** Returns the terms of an order: its lines at today's prices, in cents. */
export function orderTerms(lines: { sku: string; quantity: number; unitAmount: number }[]): AgreementTerms {
  return {
    ...once,
    kind: 'order',
    lines: lines.map(({ sku, quantity, unitAmount }) => ({ sku, quantity, unitAmount })),
    date: null,
    dueNow: lines.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
  }
}

/** Returns the terms of a new membership: `amount` cents now and then every month or year. */
export function membershipTerms(membership: {
  plan: 'monthly' | 'yearly'
  amount: number
  /** `YYYY-MM-DD` */
  classDate: string
  termsVersion: string
}): AgreementTerms {
  const { plan, amount, classDate, termsVersion } = membership
  return {
    ...once,
    kind: 'membership',
    lines: [{ sku: `membership:${plan}`, quantity: 1, unitAmount: amount }],
    date: classDate,
    dueNow: amount,
    renewal: { plan, amount, on: null },
    termsVersion,
  }
}
