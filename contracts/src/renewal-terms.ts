/* In a file without zod, because the form shows the terms. */
import type { MembershipPlan } from './auth.ts'
import type { Money } from './fields.ts'
import { formatMoney } from './pricing.ts'

/** Must change with every change of the text below; it is stored with the consent. */
export const renewalTermsVersion = '2026-11-28'

const units = { monthly: 'month', yearly: 'year' } as const satisfies Record<MembershipPlan, string>

/** Returns the unit of a plan's period. */
export function periodOf(plan: MembershipPlan): 'month' | 'year' {
  return units[plan]
}

/**
 * Returns the terms that a member accepts before paying: that the membership renews, when and for how much, and how to cancel
 * it. The text is shown beside the button, stored with the consent, and included in the confirmation mail.
 */
export function renewalTerms(plan: MembershipPlan, price: Money): string {
  const unit = periodOf(plan)
  return (
    `My membership renews by itself. ${formatMoney(price)} is charged to my card today and then every ${unit}, until I cancel. ` +
    `I can cancel online at any time, on my profile page. I then keep my membership until the end of the ${unit} that is paid, and nothing more is charged.`
  )
}
