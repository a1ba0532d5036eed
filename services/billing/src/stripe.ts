import type { ShipTo } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import { Stripe } from 'stripe'
import { z } from 'zod'
import type { BillingConfig, BillingContext } from './config.ts'
import type { ObservedSession } from './rules.ts'

/** The version whose shapes this service knows: the one that the SDK's types are of. */
export const apiVersion = '2026-10-28.endive'

interface Provider {
  stripe: Stripe
  /** How far the provider's clock is ahead of this machine's, by its last answer. */
  aheadMs(): number
}

const providers = new WeakMap<BillingConfig, Provider>()

function providerOf(config: BillingConfig): Provider {
  const known = providers.get(config)
  if (known) return known
  const url = config.STRIPE_API_URL === undefined ? undefined : new URL(config.STRIPE_API_URL)
  let aheadMs = 0
  // Its time-out is for all of an answer; that of the SDK's other client begins anew with each byte.
  const httpClient = Stripe.createFetchHttpClient(async (input: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(input, init)
    const said = Date.parse(answer.headers.get('date') ?? '')
    if (!Number.isNaN(said)) aheadMs = said - Temporal.Now.instant().epochMilliseconds
    return answer
  })
  const stripe = new Stripe(config.STRIPE_SECRET_KEY, {
    apiVersion,
    maxNetworkRetries: 2,
    httpClient,
    timeout: config.STRIPE_TIMEOUT_MS,
    telemetry: false,
    appInfo: { name: 'Robo Kids Learning' },
    ...(url && {
      host: url.hostname,
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      protocol: url.protocol === 'https:' ? 'https' : 'http',
    }),
  })
  const provider = { stripe, aheadMs: () => aheadMs }
  providers.set(config, provider)
  return provider
}

/**
 * The provider did not do what it was asked. Carries what a decision or a log line needs and nothing personal or
 * secret: the SDK's own errors hold request and card data, so none of them leaves this file.
 */
export class StripeFailure extends DomainError {
  readonly httpStatus: number | undefined
  readonly stripeType: string | undefined
  readonly stripeCode: string | undefined
  readonly param: string | undefined
  readonly stripeRequestId: string | undefined
  /** It repeated an answer that it had saved under the idempotency key. */
  readonly replayed: boolean

  constructor(error: InstanceType<typeof Stripe.errors.StripeError>) {
    super('upstream_unavailable', 'Payments cannot be reached right now. Please try again in a moment.')
    this.name = 'StripeFailure'
    this.httpStatus = error.statusCode
    this.stripeType = error.rawType ?? error.type
    this.stripeCode = error.code
    this.param = error.param
    this.stripeRequestId = error.requestId
    this.replayed = error.headers?.['idempotent-replayed'] === 'true'
  }

  /** It understood the question and will never say yes to it. */
  get refused(): boolean {
    return this.httpStatus !== undefined && [400, 402, 404, 410, 422].includes(this.httpStatus)
  }

  get missing(): boolean {
    return this.httpStatus === 404
  }
}

/** Asks the provider something. @throws StripeFailure */
export async function ask<T>({ config }: BillingContext, question: (stripe: Stripe) => Promise<T>): Promise<T> {
  try {
    return await question(providerOf(config).stripe)
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    throw new StripeFailure(error)
  }
}

/** The time on the provider's clock, by which it decides what has expired; never a rehearsal's. */
export function stripeTime({ config }: BillingContext): Temporal.Instant {
  return Temporal.Now.instant().add({ milliseconds: providerOf(config).aheadMs() })
}

/**
 * Checks a webhook's signature against each secret that is in use. The time it was signed at is real time.
 * @throws DomainError signature_invalid
 */
export function verifySignature({ config }: BillingContext, body: Buffer, header: string | undefined): void {
  const { webhooks } = providerOf(config).stripe
  for (const secret of config.STRIPE_WEBHOOK_SECRETS) {
    try {
      if (webhooks.signature?.verifyHeader(body, header ?? '', secret)) return
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error
    }
  }
  throw new DomainError('signature_invalid', 'The signature does not fit the body, or is too old.')
}

/** The id of something that the provider shows as an id or, where asked for, as a whole. */
export function idOf(shown: string | { id: string } | null | undefined): string | null {
  return typeof shown === 'string' ? shown : (shown?.id ?? null)
}

/** The attempt that an object's metadata names: null for another system's, whose words can be anything. */
export function attemptIdOf({ metadata }: { metadata: Stripe.Metadata | null }): string | null {
  return z.uuid().safeParse(metadata?.['attemptId']).data ?? null
}

const behindSession = ['payment_intent.latest_charge', 'subscription']

/** A checkout session as it is now, with what is behind it. */
export async function fetchSession(context: BillingContext, sessionId: string): Promise<ObservedSession> {
  return observe(
    await ask(context, (stripe) => stripe.checkout.sessions.retrieve(sessionId, { expand: behindSession })),
  )
}

export async function expireSession(context: BillingContext, sessionId: string): Promise<ObservedSession> {
  return observe(await ask(context, (stripe) => stripe.checkout.sessions.expire(sessionId, { expand: behindSession })))
}

export function observe(session: Stripe.Checkout.Session): ObservedSession {
  const intent = session.payment_intent
  const intentId = idOf(intent)
  const seen = typeof intent === 'string' ? null : intent
  const charge = typeof seen?.latest_charge === 'string' ? null : seen?.latest_charge
  return {
    sessionId: session.id,
    attemptId: attemptIdOf(session),
    status: session.status ?? 'open',
    paymentStatus: session.payment_status,
    mode: session.mode,
    amount: session.amount_total,
    currency: session.currency,
    url: session.url,
    payment:
      intentId === null
        ? null
        : {
            intentId,
            status: seen?.status ?? null,
            amount: seen?.amount_received ?? null,
            currency: seen?.currency ?? null,
            paidAt: charge ? Temporal.Instant.fromEpochMilliseconds(charge.created * 1000) : null,
            decline: seen?.last_payment_error?.message ?? null,
          },
    buyer: { email: session.customer_details?.email ?? null, shipTo: observeShipTo(session) },
    termsAccepted: session.consent?.terms_of_service === 'accepted',
    subscription: observeSubscription(session),
  }
}

function observeShipTo({ collected_information }: Stripe.Checkout.Session): ShipTo | null {
  const shipping = collected_information?.shipping_details
  if (!shipping) return null
  const { line1, line2, city, state, postal_code, country } = shipping.address
  return {
    name: shipping.name,
    addressLine1: line1 ?? '',
    addressLine2: line2 ?? '',
    city: city ?? '',
    state: state ?? '',
    zipCode: postal_code ?? '',
    country: country ?? '',
  }
}

function observeSubscription({ subscription, customer }: Stripe.Checkout.Session): ObservedSession['subscription'] {
  const subscriptionId = idOf(subscription)
  const customerId = idOf(customer)
  if (subscriptionId === null || customerId === null) return null
  const seen = typeof subscription === 'string' ? null : subscription
  const startedAt = seen ? Temporal.Instant.fromEpochMilliseconds(seen.start_date * 1000) : null
  return { subscriptionId, customerId, status: seen?.status ?? null, startedAt }
}
