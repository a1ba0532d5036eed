import { useQuery } from '@tanstack/react-query'
import { planInShort, planNames } from './membership-texts.ts'
import { amountOf, plansQuery } from './plans-query.ts'

/** `$7 per month or $60 per year` from the server; until then, where to find it. */
export function MembershipPrice({ unknown }: { unknown: string }) {
  const { data } = useQuery(plansQuery)
  return <span>{data ? planNames.map((plan) => planInShort(plan, amountOf(plan, data))).join(' or ') : unknown}</span>
}
