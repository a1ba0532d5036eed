import { lazy, Suspense } from 'react'

/** Documents have the price. In a browser it has time: what it takes is more than its page has to spare at first. */
const MembershipPrice = import.meta.env.SSR
  ? (await import('./MembershipPrice.tsx')).MembershipPrice
  : lazy(async () => ({ default: (await import('./MembershipPrice.tsx')).MembershipPrice }))

const unknown = 'what the membership page shows, per month or per year'

export const showMembershipPrice = () => (
  <Suspense fallback={<span>{unknown}</span>}>
    <MembershipPrice unknown={unknown} />
  </Suspense>
)
