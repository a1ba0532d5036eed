import type { MembershipPlan } from '@robokids/contracts/auth'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { ChangeTerms } from '@robokids/contracts/changes'
import { periodOf } from '@robokids/contracts/membership'
import { formatClassDate } from '@robokids/contracts/class-date'
import { DomainError } from '@robokids/runtime/errors'
import type { Quote } from '../prices/rules.ts'
import type { MoveFacts, OrderFacts } from '../purchase.ts'

/** @throws DomainError validation_failed */
function longDate(startDate: string): string {
  let date: Temporal.PlainDate
  try {
    date = Temporal.PlainDate.from(startDate)
  } catch {
    throw new DomainError('validation_failed', 'startDate is not a date.', [
      { path: 'purchase.startDate', message: 'startDate is not a date.' },
    ])
  }
  return formatClassDate(date.toString())
}

/** The parameters of a registration's session: decided once per attempt and never changed. */
export function sessionParameters(
  attemptId: string,
  purchase: RegistrationFacts,
  { unitAmount, quantity }: Pick<Quote, 'unitAmount' | 'quantity'>,
  expiresAt: Temporal.Instant,
  siteUrl: string,
) {
  const children = purchase.children.length
  const free = children - quantity
  const metadata = { registrationId: purchase.registrationId, attemptId }
  const reference = encodeURIComponent(purchase.registrationId)
  return {
    mode: 'payment' as const,
    allowed_payment_method_types: ['card' as const],
    // Prices are in dollars only: never charge a converted amount.
    adaptive_pricing: { enabled: false },
    client_reference_id: purchase.registrationId,
    customer_email: purchase.email,
    line_items: [
      {
        quantity,
        price_data: {
          currency: 'usd',
          unit_amount: unitAmount,
          product_data: {
            name: `${purchase.levelTitle}: ${longDate(purchase.startDate)}`,
            ...(children > 1
              ? { description: `For ${children} children${free > 0 ? `, ${free} of them free` : ''}` }
              : {}),
          },
        },
      },
    ],
    metadata,
    // A session's metadata does not reach its payment.
    payment_intent_data: { metadata },
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/robokids/success?reference=${reference}`,
    cancel_url: `${siteUrl}/robokids-payment?reference=${reference}`,
  }
}

/** The parameters of the session for the difference of a move. */
export function moveParameters(
  attemptId: string,
  { registrationId, email, move: { changeId } }: MoveFacts,
  { to, due, lines, school }: Pick<ChangeTerms, 'to' | 'due' | 'lines' | 'school'>,
  expiresAt: Temporal.Instant,
  siteUrl: string,
) {
  const metadata = { registrationId, changeId, attemptId }
  // Who chooses by the link of a mail may have no account.
  const page = school ? `${siteUrl}/choice?reference=${school.choiceId}` : `${siteUrl}/dashboard?card=${registrationId}`
  const name = to === null ? 'Move' : `Move to ${to.levelTitle}: ${longDate(to.startDate)}`
  const description = `The difference for ${lines.map(({ childName }) => childName).join(', ')}`
  return {
    mode: 'payment' as const,
    allowed_payment_method_types: ['card' as const],
    adaptive_pricing: { enabled: false },
    client_reference_id: changeId,
    customer_email: email,
    line_items: [
      { quantity: 1, price_data: { currency: 'usd', unit_amount: due, product_data: { name, description } } },
    ],
    metadata,
    payment_intent_data: { metadata },
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${page}&change=${changeId}`,
    cancel_url: page,
  }
}

export type SessionParameters = ReturnType<typeof sessionParameters> | ReturnType<typeof moveParameters>

/** A request to become a member. */
export interface MembershipRequest {
  email: string
  plan: MembershipPlan
  /** `YYYY-MM-DD` */
  classDate: string
}

/**
 * The parameters of a membership's session. The return URLs contain no personal data.
 * @param terms to agree to on the payment page, if not agreed to before.
 */
export function membershipParameters(
  attemptId: string,
  { email, plan, classDate }: MembershipRequest,
  unitAmount: number,
  expiresAt: Temporal.Instant,
  siteUrl: string,
  terms?: string,
) {
  const metadata = { attemptId }
  return {
    mode: 'subscription' as const,
    allowed_payment_method_types: ['card' as const],
    adaptive_pricing: { enabled: false },
    client_reference_id: attemptId,
    customer_email: email,
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: unitAmount,
          recurring: { interval: periodOf(plan) },
          product_data: {
            // Without the plan: the product stays the same when the plan changes.
            name: 'Robo Kids Learning membership',
            description: `With a seat in the members’ session of ${longDate(classDate)}`,
          },
        },
      },
    ],
    metadata,
    // A session's metadata does not reach its subscription.
    subscription_data: { metadata },
    ...(terms === undefined
      ? {}
      : {
          consent_collection: { terms_of_service: 'required' as const },
          custom_text: { terms_of_service_acceptance: { message: terms } },
        }),
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/success?reference=${attemptId}`,
    cancel_url: `${siteUrl}/membership/register`,
  }
}

export type MembershipParameters = ReturnType<typeof membershipParameters>

/** The parameters of an order's session: the payment page asks for the name and the shipping address. */
export function orderParameters(
  attemptId: string,
  { orderId, lines }: OrderFacts,
  expiresAt: Temporal.Instant,
  siteUrl: string,
) {
  const metadata = { orderId, attemptId }
  return {
    mode: 'payment' as const,
    allowed_payment_method_types: ['card' as const],
    adaptive_pricing: { enabled: false },
    client_reference_id: orderId,
    line_items: lines.map(({ name, state, quantity, unitAmount }) => ({
      quantity,
      price_data: {
        currency: 'usd',
        unit_amount: unitAmount,
        product_data: {
          name,
          ...(state === 'pre_order' ? { description: 'Pre-order: ships when it is made' } : {}),
        },
      },
    })),
    shipping_address_collection: { allowed_countries: ['US' as const] },
    metadata,
    payment_intent_data: { metadata },
    expires_at: Math.floor(expiresAt.epochMilliseconds / 1000),
    success_url: `${siteUrl}/shop/success?reference=${orderId}`,
    cancel_url: `${siteUrl}/shop`,
  }
}

export type OrderParameters = ReturnType<typeof orderParameters>
