import { membershipPlans } from '@robokids/contracts/auth'
import { membershipSku, type MembershipPlans } from '@robokids/contracts/billing'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Database } from '@robokids/runtime/db'
import { readPrices } from '../prices/read-prices.ts'

/** Returns the prices of memberships at `now`, with their terms. */
export async function readPlans(db: Database, now: Temporal.Instant): Promise<MembershipPlans> {
  const { prices } = await readPrices(db, now)
  const plans = membershipPlans.flatMap((plan) => {
    const price = prices.find(({ sku }) => sku === membershipSku(plan))
    if (!price) return []
    const { amount, currency } = price
    return [{ plan, amount, currency, termsVersion: renewalTermsVersion, terms: renewalTerms(plan, price) }]
  })
  return { plans }
}
