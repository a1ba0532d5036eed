/* In a file without schemas: the form shows them. */
import type { MembershipPlan } from './auth.ts'
import type { Money } from './fields.ts'
import { formatMoney } from './pricing.ts'

/** Changes with every change of the words below: it is kept with the consent that was given to them. */
export const renewalTermsVersion = '2026-11-28'

const units = { monthly: 'month', yearly: 'year' } as const satisfies Record<MembershipPlan, string>

/** `month` or `year`. */
export function periodOf(plan: MembershipPlan): 'month' | 'year' {
  return units[plan]
}

/**
 * What a member agrees to before paying: that the membership renews, when and for how much, and how to end it. The words
 * stand beside the button, are kept with the consent, and are in the confirmation mail.
 */
export function renewalTerms(plan: MembershipPlan, price: Money): string {
  const unit = periodOf(plan)
  return (
    `My membership renews by itself. ${formatMoney(price)} is charged to my card today and then every ${unit}, until I cancel. ` +
    `I can cancel online at any time, on my profile page. I then keep my membership until the end of the ${unit} that is paid, and nothing more is charged.`
  )
}
