import type { MembershipPlan } from '@robokids/contracts/auth'
import type { MembershipPlans } from '@robokids/contracts/billing'
import { queryOptions } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import membershipPlansShape from '../api/answers/membership-plans.json'
import { api } from '../api/api.ts'

export const membershipPlans = answer<MembershipPlans>(membershipPlansShape)

/** The prices of a membership, and its terms, word for word. */
export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => api('/api/membership-plans', { answer: membershipPlans, signal }),
  staleTime: 5_000,
})

/** In cents; undefined while loading. */
export function amountOf(plan: MembershipPlan, told: MembershipPlans | undefined): number | undefined {
  return told?.plans.find((one) => one.plan === plan)?.amount
}
