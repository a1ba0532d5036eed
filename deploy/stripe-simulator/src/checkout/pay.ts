import { cardByLast4, checkCard, isProblem, type CardEntry, type Decline } from '../payments/cards.ts'
import { chargeCard, failedAuthentication, failIntent, requireAction, succeedIntent } from '../payments/charge-card.ts'
import { createCharge, settleCharge } from '../payments/charges.ts'
import { paymentIntentFor } from '../payments/payment-intents.ts'
import { createBankMethod, createCardMethod, type Payer } from '../payments/payment-methods.ts'
import { idOf, randomToken } from '../protocol/ids.ts'
import { isEmail } from '../protocol/params.ts'
import { noRequest, type PaymentIntent, type PaymentMethod } from '../protocol/types.ts'
/**
 * Pays a session, for the page's form and the control API. Everything up to
 * the response runs synchronously, so that two concurrent requests cannot both find the session open: it is charged once.
 */
import type { Context } from '../resources/context.ts'
import type { SessionRecord } from '../store/store.ts'
import { startSubscription } from '../subscriptions/subscriptions.ts'
import { emit } from '../webhooks/events.ts'
import { currentSession, customerDetails, customerFor } from './sessions.ts'
import { collectShipping, testAddress, type ShippingEntry, type ShippingField } from './shipping.ts'

export interface PayEntry extends CardEntry, ShippingEntry {
  name: string
  email: string
  /** The checkbox of the terms, if the session requires consent. */
  terms: boolean
}

export type PayField = 'email' | 'number' | 'expiry' | 'cvc' | 'name' | 'terms' | ShippingField

export interface PayOutcome {
  status:
    | 'paid'
    /** The session is complete, and the payment pending. */
    | 'processing'
    | 'requires_action'
    | 'declined'
    /** The form's validation failed: no payment was attempted. */
    | 'invalid'
    | 'expired'
    | 'not_found'
  /** The text for the parent. */
  message: string
  /** The next page; null to stay on the form. */
  redirectUrl: string | null
  /** The field of the message. */
  field: PayField | null
  code: string | null
  declineCode: string | null
}

const expired = 'This payment page has expired. You have not been charged.'
function outcome(status: PayOutcome['status'], message: string, more: Partial<PayOutcome> = {}): PayOutcome {
  return { status, message, redirectUrl: null, field: null, code: null, declineCode: null, ...more }
}

const notFound = outcome('not_found', 'This payment page does not exist. Check the link you were given.')

/** Attempts a payment, and after a success waits for the response to the webhook, at most ten seconds. */
export async function payCheckout(ctx: Context, id: string, entry: PayEntry): Promise<PayOutcome> {
  return await afterWebhook(ctx, id, attemptPayment(ctx, id, entry))
}

/** The parent's answer to the bank's confirmation. */
export async function answerChallenge(
  ctx: Context,
  id: string,
  challengeId: string,
  passed: boolean,
): Promise<PayOutcome> {
  return await afterWebhook(ctx, id, attemptChallenge(ctx, id, challengeId, passed))
}

async function afterWebhook(ctx: Context, id: string, result: PayOutcome): Promise<PayOutcome> {
  if (result.status === 'paid' || result.status === 'processing') {
    const eventId = ctx.store.sessions.get(id)?.completedEventId
    if (typeof eventId === 'string') {
      await ctx.deliveries.firstAttempt(eventId, ctx.settings.redirectWaitMs)
    }
  }
  return result
}

/** The outcome for a session that can no longer be paid; null while it is open. */
function closedOutcome(record: SessionRecord): PayOutcome | null {
  const { object: session } = record
  if (session.status === 'open') return null
  if (session.status === 'expired') {
    return outcome('expired', expired, { redirectUrl: session.cancel_url })
  }
  const redirectUrl = successUrl(record)
  return session.payment_status === 'unpaid'
    ? outcome('processing', 'Your payment is being processed.', { redirectUrl })
    : outcome('paid', 'This has been paid.', { redirectUrl })
}

export function successUrl(record: SessionRecord): string {
  const { id, success_url: url } = record.object
  return (url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id)
}

function attemptPayment(ctx: Context, id: string, entry: PayEntry): PayOutcome {
  const record = currentSession(ctx, id)
  if (record === undefined) return notFound
  const closed = closedOutcome(record)
  if (closed !== null) return closed

  ctx.store.save(record.object)
  const payer: Payer = { name: entry.name.trim().slice(0, 256), email: entry.email.trim() }
  if (record.object.customer_email !== null) payer.email = record.object.customer_email
  if (!isEmail(payer.email)) {
    return outcome('invalid', 'Enter your e-mail address, like name@example.com.', {
      field: 'email',
      code: 'email_invalid',
    })
  }
  const undeliverable = collectShipping(record.object, entry)
  if (undeliverable !== null) {
    return outcome('invalid', undeliverable.message, { field: undeliverable.field, code: 'shipping_address_invalid' })
  }
  const refusal = requiresTerms(record) && !entry.terms ? terms : null
  if (record.object.amount_total === 0) return refusal ?? completeFree(ctx, record, payer)

  const checked = checkCard(entry, new Date(ctx.clock.ms()))
  if (isProblem(checked)) {
    return outcome('invalid', checked.message, { field: checked.field, code: checked.code })
  }
  if (payer.name === '') {
    return outcome('invalid', 'Enter the name on the card.', { field: 'name', code: 'name_missing' })
  }
  if (refusal !== null) return refusal

  const customer = customerFor(ctx, record.object, payer)
  const intent = paymentIntentFor(ctx, record, customer)
  const method = createCardMethod(ctx, checked, payer, customer)
  // A new attempt replaces an abandoned confirmation.
  record.challenge = null
  if (checked.card.authentication !== undefined) {
    return requireConfirmation(ctx, record, intent, method, payer)
  }
  return charge(ctx, record, intent, method, payer, false)
}

const terms = outcome('invalid', 'Agree to the terms to go on.', { field: 'terms', code: 'terms_missing' })

function requiresTerms({ object: { consent_collection: collection } }: SessionRecord): boolean {
  return collection?.terms_of_service === 'required'
}

function requireConfirmation(
  ctx: Context,
  record: SessionRecord,
  intent: PaymentIntent,
  method: PaymentMethod,
  payer: Payer,
): PayOutcome {
  const challenge = {
    id: randomToken(24),
    paymentMethodId: method.id,
    last4: method.card?.last4 ?? '',
    ...payer,
  }
  record.challenge = challenge
  const url = `${ctx.settings.publicUrl}/c/authenticate/${record.object.id}/${challenge.id}`
  requireAction(ctx, intent, method, { url, returnUrl: record.object.url }, noRequest)
  return outcome('requires_action', 'Your bank asks you to confirm this payment.', { redirectUrl: url })
}

function attemptChallenge(ctx: Context, id: string, challengeId: string, passed: boolean): PayOutcome {
  const record = currentSession(ctx, id)
  if (record === undefined) return notFound
  const closed = closedOutcome(record)
  if (closed !== null) return closed

  const { challenge } = record
  const method = ctx.store.paymentMethods.get(challenge?.paymentMethodId ?? '')
  if (challenge?.id !== challengeId || method === undefined || cardByLast4(challenge.last4) === undefined) {
    return outcome('declined', 'This confirmation is no longer valid. Please pay again.', {
      redirectUrl: record.object.url,
    })
  }
  ctx.store.save(record.object)
  const payer: Payer = { name: challenge.name, email: challenge.email }
  const intent = paymentIntentFor(ctx, record, method.customer as string | null)
  record.challenge = null
  if (passed) return charge(ctx, record, intent, method, payer, true)

  failIntent(ctx, intent, method, failedAuthentication, null, noRequest)
  return outcome('declined', failedAuthentication.message, {
    redirectUrl: record.object.url,
    code: failedAuthentication.code,
  })
}

function charge(
  ctx: Context,
  record: SessionRecord,
  intent: PaymentIntent,
  method: PaymentMethod,
  payer: Payer,
  authenticated: boolean,
): PayOutcome {
  const decline = chargeCard(ctx, intent, method, authenticated, noRequest)
  if (decline !== null) {
    return outcome('declined', decline.message, {
      redirectUrl: authenticated ? record.object.url : null,
      field: declinedField(decline),
      code: decline.code,
      declineCode: decline.declineCode,
    })
  }
  if (record.object.mode === 'subscription') startSubscription(ctx, record, intent, method)
  complete(ctx, record, payer, 'paid')
  return outcome('paid', 'Payment successful.', { redirectUrl: successUrl(record) })
}

function declinedField(decline: Decline): PayField {
  if (decline.code === 'expired_card') return 'expiry'
  return decline.code === 'incorrect_cvc' ? 'cvc' : 'number'
}

function complete(
  ctx: Context,
  record: SessionRecord,
  payer: Payer,
  paymentStatus: 'paid' | 'unpaid' | 'no_payment_required',
): void {
  const session = record.object
  session.status = 'complete'
  session.payment_status = paymentStatus
  session.url = null
  session.customer_details = customerDetails(payer.email, payer.name === '' ? null : payer.name)
  if (requiresTerms(record)) session.consent = { promotions: null, terms_of_service: 'accepted' }
  record.completedEventId = emit(ctx, 'checkout.session.completed', session, noRequest).id
}

function completeFree(ctx: Context, record: SessionRecord, payer: Payer): PayOutcome {
  customerFor(ctx, record.object, payer)
  complete(ctx, record, payer, 'no_payment_required')
  return outcome('paid', 'Nothing to pay.', { redirectUrl: successUrl(record) })
}

/**
 * Pays by bank debit: the session is complete immediately but unpaid, and the payment succeeds or fails later.
 * `settlement` schedules that; null leaves it to `settleAsync`.
 */
export function completeAsync(
  ctx: Context,
  id: string,
  settlement: { afterSeconds: number; outcome: 'succeeded' | 'failed' } | null,
): PayOutcome {
  const record = currentSession(ctx, id)
  if (record === undefined) return notFound
  const closed = closedOutcome(record)
  if (closed !== null) return closed

  if (record.object.mode === 'subscription') {
    return outcome('invalid', 'The payment simulator takes cards only for a subscription.')
  }
  const payer: Payer = {
    name: 'Test Parent',
    email: record.object.customer_email ?? 'parent@example.com',
  }
  collectShipping(record.object, testAddress)
  const customer = customerFor(ctx, record.object, payer)
  const intent = paymentIntentFor(ctx, record, customer)
  const method = createBankMethod(ctx, payer, customer)
  const made = createCharge(ctx, intent, method, { status: 'pending' }, false)
  record.challenge = null
  record.object.payment_method_types = ['card', 'us_bank_account']
  intent.payment_method_types = ['card', 'us_bank_account']
  intent.status = 'processing'
  intent.payment_method = method.id
  intent.latest_charge = made.id
  intent.last_payment_error = null
  intent.next_action = null
  emit(ctx, 'charge.pending', made, noRequest)
  emit(ctx, 'payment_intent.processing', intent, noRequest)
  complete(ctx, record, payer, 'unpaid')
  if (settlement !== null) {
    record.settlement = {
      at: ctx.clock.seconds() + settlement.afterSeconds,
      outcome: settlement.outcome,
    }
    if (settlement.afterSeconds === 0) settleAsync(ctx, id, settlement.outcome)
  }
  return outcome('processing', 'Your payment is being processed.', { redirectUrl: successUrl(record) })
}

/** Settles an asynchronous payment now; false if the session has no pending one. */
export function settleAsync(ctx: Context, id: string, result: 'succeeded' | 'failed'): boolean {
  const record = ctx.store.sessions.get(id)
  const session = record?.object
  if (session?.status !== 'complete' || session.payment_status !== 'unpaid') return false
  const intent = ctx.store.paymentIntents.get(idOf(session.payment_intent))
  const made = ctx.store.charges.get(idOf(intent?.latest_charge))
  const method = ctx.store.paymentMethods.get(idOf(intent?.payment_method))
  if (record === undefined || intent === undefined || made === undefined || method === undefined) {
    return false
  }
  record.settlement = null
  if (result === 'succeeded') {
    settleCharge(ctx, made, { status: 'succeeded' })
    emit(ctx, 'charge.succeeded', made, noRequest)
    succeedIntent(ctx, intent, method, noRequest)
    session.payment_status = 'paid'
    emit(ctx, 'checkout.session.async_payment_succeeded', session, noRequest)
    return true
  }
  const decline: Decline = {
    code: 'payment_method_bank_account_closed',
    declineCode: null,
    message: 'The bank account could not be debited.',
  }
  settleCharge(ctx, made, { status: 'failed', decline })
  emit(ctx, 'charge.failed', made, noRequest)
  failIntent(ctx, intent, method, decline, made.id, noRequest)
  emit(ctx, 'checkout.session.async_payment_failed', session, noRequest)
  return true
}
