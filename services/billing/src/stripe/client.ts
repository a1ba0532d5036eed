import { DomainError } from '@robokids/runtime/errors'
import { Stripe } from 'stripe'
import { z } from 'zod'
import type { BillingConfig, BillingContext } from '../config.ts'

/** The version whose shapes this service knows: the one that the SDK's types are of. */
export const apiVersion = '2026-10-28.endive'

interface Provider {
  stripe: Stripe
  /** How far the provider's clock is ahead of this machine's, by its last answer. */
  aheadMs(): number
}

const providers = new WeakMap<BillingConfig, Provider>()

export function providerOf(config: BillingConfig): Provider {
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

/** Calls the provider. @throws StripeFailure */
export async function callStripe<T>({ config }: BillingContext, question: (stripe: Stripe) => Promise<T>): Promise<T> {
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

/** The id of something that the provider shows as an id or, where asked for, as a whole. */
export function idOf(shown: string | { id: string } | null | undefined): string | null {
  return typeof shown === 'string' ? shown : (shown?.id ?? null)
}

/** The attempt that an object's metadata names: null for another system's, whose words can be anything. */
export function attemptIdOf({ metadata }: { metadata: Stripe.Metadata | null }): string | null {
  return z.uuid().safeParse(metadata?.['attemptId']).data ?? null
}
