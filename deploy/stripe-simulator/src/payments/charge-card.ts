import { ApiError } from '../protocol/errors.ts'
import { idOf, randomToken } from '../protocol/ids.ts'
import type { Cause, PaymentIntent, PaymentMethod } from '../protocol/types.ts'
/** Charges a PaymentIntent to a payment method: the charge, the outcome and their events. */
import type { Context } from '../resources/context.ts'
import { emit } from '../webhooks/events.ts'
import { cardByLast4, type Decline } from './cards.ts'
import { createCharge } from './charges.ts'

export const failedAuthentication: Decline = {
  code: 'payment_intent_authentication_failure',
  declineCode: null,
  message: 'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
}

/** Null when it was paid. */
export function chargeCard(
  ctx: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  authenticated: boolean,
  cause: Cause,
): Decline | null {
  const card = cardByLast4(method.card?.last4)
  const decline = card?.decline ?? null
  const result = decline === null ? { status: 'succeeded' as const } : { status: 'failed' as const, decline }
  const made = createCharge(ctx, intent, method, result, authenticated)
  intent.latest_charge = made.id
  intent.next_action = null
  if (decline !== null) {
    emit(ctx, 'charge.failed', made, cause)
    failIntent(ctx, intent, method, decline, made.id, cause)
    return decline
  }
  emit(ctx, 'charge.succeeded', made, cause)
  succeedIntent(ctx, intent, method, cause)
  if (card?.disputed === true) {
    ctx.store.plannedDisputes.set(made.id, { at: ctx.clock.seconds() + ctx.settings.disputeAfterSeconds })
  }
  return null
}

/** Requires the bank's confirmation (3-D Secure) on the page at `url`. */
export function requireAction(
  ctx: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  urls: { url: string; returnUrl: string | null },
  cause: Cause,
): void {
  intent.status = 'requires_action'
  intent.payment_method = method.id
  intent.last_payment_error = null
  intent.next_action = { redirect_to_url: { return_url: urls.returnUrl, url: urls.url }, type: 'redirect_to_url' }
  emit(ctx, 'payment_intent.requires_action', intent, cause)
}

export function succeedIntent(ctx: Context, intent: PaymentIntent, method: PaymentMethod, cause: Cause): void {
  intent.status = 'succeeded'
  intent.amount_received = intent.amount
  intent.payment_method = method.id
  intent.last_payment_error = null
  intent.processing = null
  emit(ctx, 'payment_intent.succeeded', intent, cause)
}

export function failIntent(
  ctx: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  decline: Decline,
  chargeId: string | null,
  cause: Cause,
): void {
  intent.status = 'requires_payment_method'
  intent.payment_method = null
  intent.next_action = null
  intent.processing = null
  intent.last_payment_error = {
    ...(chargeId === null ? {} : { charge: chargeId }),
    code: decline.code,
    ...(decline.declineCode === null ? {} : { decline_code: decline.declineCode }),
    doc_url: `https://stripe.com/docs/error-codes/${decline.code.replaceAll('_', '-')}`,
    message: decline.message,
    payment_method: structuredClone(method),
    type: chargeId === null ? 'invalid_request_error' : 'card_error',
  }
  emit(ctx, 'payment_intent.payment_failed', intent, cause)
}

/** The error of a failed charge: 402, with the current intent. */
export function cardError(decline: Decline, intent?: PaymentIntent): ApiError {
  return new ApiError(402, {
    type: 'card_error',
    code: decline.code,
    ...(decline.declineCode === null ? {} : { decline_code: decline.declineCode }),
    message: decline.message,
    ...(intent === undefined ? {} : { charge: idOf(intent.latest_charge), payment_intent: structuredClone(intent) }),
  })
}

/** URL of the bank's confirmation for an intent without a Checkout Session. */
export function challengeUrl(ctx: Context, intent: PaymentIntent): string {
  return `${ctx.settings.publicUrl}/c/confirm/${intent.id}/${randomToken(24)}`
}
