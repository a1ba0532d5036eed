import { lazy, Suspense } from 'react'

/** Rendered in documents. In the browser it is imported later, as it exceeds the first load limit of its page. */
const MembershipPrice = import.meta.env.SSR
  ? (await import('./MembershipPrice.tsx')).MembershipPrice
  : lazy(async () => ({ default: (await import('./MembershipPrice.tsx')).MembershipPrice }))

const unknown = 'what the membership page shows, per month or per year'

export const showMembershipPrice = () => (
  <Suspense fallback={<span>{unknown}</span>}>
    <MembershipPrice unknown={unknown} />
  </Suspense>
)
