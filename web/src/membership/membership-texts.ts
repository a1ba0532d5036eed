import type { MembershipPlan } from '@robokids/contracts/auth'
import { formatMoney } from '@robokids/contracts/pricing'
import { periodOf } from '@robokids/contracts/renewal-terms'

export const planNames: readonly MembershipPlan[] = ['monthly', 'yearly']

export const planName = (plan: MembershipPlan) => (plan === 'monthly' ? 'Monthly' : 'Yearly')

const whole = (amount: number) => formatMoney({ amount, currency: 'usd' }, true)

/** `$7 per month`, or `Per month` if the amount is unknown. */
export const planInShort = (plan: MembershipPlan, amount: number | undefined) =>
  `${amount === undefined ? 'Per' : `${whole(amount)} per`} ${periodOf(plan)}`

export function planNote(plan: MembershipPlan, amount: number | undefined): string {
  if (plan === 'monthly') return 'Paid month by month.'
  return `Paid once a year.${amount !== undefined && amount % 12 === 0 ? ` That is ${whole(amount / 12)} a month.` : ''}`
}

export const memberGets = [
  {
    title: 'A members’ class each month',
    text: 'Each paid month gives one class, by the year also. You choose the first date when you register and book later ones on your page, with nothing more to pay. Up to 3 unused classes are kept while you’re a member.',
  },
  {
    title: 'Plans change',
    text: 'Move or cancel a booked class for free until 24 hours before it starts. If you end your membership, what you have booked stays.',
  },
  {
    title: 'A small group, live',
    text: 'Groups have 5 to 10 students and meet on a live video call, with a coach who sees every child.',
  },
  {
    title: 'An account of your own',
    text: 'Your details in one place, safe behind a password, a passkey or a second step of your choice.',
  },
] as const

export const membershipSteps = [
  'You create your account and choose a class date.',
  'You pay by card on the next page.',
  'You confirm your email with the code we email you.',
  'You complete the waiver form.',
] as const
