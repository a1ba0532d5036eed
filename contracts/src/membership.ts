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
  /** The account it belongs to; null while none has it. Absent, as the next line, from events of the time before. */
  ownerId: z.uuid().nullish(),
  /** Its account was deleted: nobody can open its profile page any more. */
  accountDeleted: z.boolean().optional(),
})
export type MembershipFacts = z.infer<typeof membershipFactsSchema>
