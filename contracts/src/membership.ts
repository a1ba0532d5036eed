import { z } from 'zod'
import { membershipPlans } from './auth.ts'
import { moneySchema } from './fields.ts'

export { periodOf, renewalTerms, renewalTermsVersion } from './renewal-terms.ts'

/** The membership data in events and mails. `attemptId`, that of its checkout, is the membership's id. */
export const membershipFactsSchema = z.object({
  attemptId: z.uuid(),
  email: z.string(),
  plan: z.enum(membershipPlans),
  /** The price per month or year. */
  ...moneySchema.shape,
  /** The owner's account; null if there is none. This field and the next are absent from older events. */
  ownerId: z.uuid().nullish(),
  /** The account was deleted, so the profile page can no longer be opened. */
  accountDeleted: z.boolean().optional(),
})
export type MembershipFacts = z.infer<typeof membershipFactsSchema>
