import { z } from 'zod'
import { membershipPlans } from './auth.ts'
import { moneySchema } from './fields.ts'

export { periodOf, renewalTerms, renewalTermsVersion } from './renewal-terms.ts'

/** What is true of a membership when it begins: events and mails carry it. `attemptId` is its id from then on. */
export const membershipFactsSchema = z.object({
  attemptId: z.uuid(),
  email: z.string(),
  plan: z.enum(membershipPlans),
  /** What is paid each month, or each year. */
  ...moneySchema.shape,
})
export type MembershipFacts = z.infer<typeof membershipFactsSchema>
