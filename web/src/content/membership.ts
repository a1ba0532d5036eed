import type { MembershipPlan } from '@robokids/contracts/auth'
import { openingMembershipPrices } from '@robokids/contracts/opening-prices'

interface Plan {
  price: string
  /** In cents, for what is shown before the server has told its own price. */
  amount: number
  per: string
  /** In the confirmation: `$7 per month`. */
  name: string
  note: string
}

export const plans: Record<MembershipPlan, Plan> = {
  monthly: {
    price: '$7',
    amount: openingMembershipPrices.monthly,
    per: 'a month',
    name: '$7 per month',
    note: 'Paid month by month.',
  },
  yearly: {
    price: '$60',
    amount: openingMembershipPrices.yearly,
    per: 'a year',
    name: '$60 per year',
    note: 'Paid once a year. That is $5 a month.',
  },
}

export const memberGets = [
  {
    title: 'A seat in the members’ session',
    text: 'Each class date has a session for members only. You choose your date when you register, and the seat is yours.',
  },
  {
    title: 'A small group, live',
    text: 'Groups have 5 to 10 students and meet on a live video call, with a coach who sees every child.',
  },
  {
    title: 'An account that you keep',
    text: 'Your details in one place, safe behind a password, a passkey or a second step of your choice.',
  },
] as const

export const membershipSteps = [
  'You create your account and choose a class date.',
  'You pay by card on the next page.',
  'You confirm your email with the code that we mail you.',
  'You complete the waiver form.',
] as const
