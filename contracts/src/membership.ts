import { z } from 'zod'
import { type MembershipPlan, membershipPlans } from './auth.ts'
import { moneySchema, type Money } from './fields.ts'
import { formatMoney } from './pricing.ts'

/** What is true of a membership when it begins: events and mails carry it. `attemptId` is its id from then on. */
export const membershipFactsSchema = z.object({
  attemptId: z.uuid(),
  email: z.string(),
  plan: z.enum(membershipPlans),
  /** What is paid each month, or each year. */
  ...moneySchema.shape,
})
export type MembershipFacts = z.infer<typeof membershipFactsSchema>

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
