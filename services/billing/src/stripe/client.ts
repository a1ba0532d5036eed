import { DomainError } from '@robokids/runtime/errors'
import { inSpan } from '@robokids/runtime/trace'
import { Stripe } from 'stripe'
import { z } from 'zod'
import type { BillingConfig, BillingContext } from '../config.ts'

/** The API version of the SDK's types. */
export const apiVersion = '2026-10-28.endive'

interface Provider {
  stripe: Stripe
  /** How far Stripe's clock is ahead of this machine's, by its last response. */
  aheadMs(): number
}

/** A request without the ids in its address: `POST /v1/checkout/sessions`. */
function requestName(input: string | URL | Request, init?: RequestInit): string {
  const { pathname } = new URL(input instanceof Request ? input.url : input)
  return `${init?.method ?? 'GET'} ${pathname.replaceAll(/\/[a-z]+_\w+/g, '/:id')}`
}

const providers = new WeakMap<BillingConfig, Provider>()

export function getProvider(config: BillingConfig): Provider {
  const known = providers.get(config)
  if (known) return known
  const url = config.STRIPE_API_URL === undefined ? undefined : new URL(config.STRIPE_API_URL)
  let aheadMs = 0
  // Its timeout covers the whole response; that of the SDK's other client restarts with each byte.
  const httpClient = Stripe.createFetchHttpClient(async (input: string | URL | Request, init?: RequestInit) => {
    const response = await inSpan({ name: requestName(input, init), kind: 'client' }, () => fetch(input, init))
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) aheadMs = date - Temporal.Now.instant().epochMilliseconds
    return response
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
 * A failed call to Stripe. Contains what decisions and logs need and nothing personal or secret: the SDK's own errors hold
 * request and card data, so none of them leaves this file.
 */
export class StripeFailure extends DomainError {
  readonly httpStatus: number | undefined
  readonly stripeType: string | undefined
  readonly stripeCode: string | undefined
  readonly param: string | undefined
  readonly stripeRequestId: string | undefined
  /** Whether it is a replay of the response saved under the idempotency key. */
  readonly replayed: boolean

  constructor(error: InstanceType<typeof Stripe.errors.StripeError>) {
    super('upstream_unavailable', 'We can’t reach our payment provider right now. Please try again in a moment.')
    this.name = 'StripeFailure'
    this.httpStatus = error.statusCode
    this.stripeType = error.rawType ?? error.type
    this.stripeCode = error.code
    this.param = error.param
    this.stripeRequestId = error.requestId
    this.replayed = error.headers?.['idempotent-replayed'] === 'true'
  }

  /** Whether a retry of the same request is pointless. */
  get refused(): boolean {
    return this.httpStatus !== undefined && [400, 402, 404, 410, 422].includes(this.httpStatus)
  }

  get missing(): boolean {
    return this.httpStatus === 404
  }
}

/** Calls Stripe. @throws StripeFailure */
export async function callStripe<T>({ config }: BillingContext, request: (stripe: Stripe) => Promise<T>): Promise<T> {
  try {
    return await request(getProvider(config).stripe)
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    throw new StripeFailure(error)
  }
}

/** The time on Stripe's clock, which decides what has expired; never a simulated time. */
export function stripeTime({ config }: BillingContext): Temporal.Instant {
  return Temporal.Now.instant().add({ milliseconds: getProvider(config).aheadMs() })
}

/** The id of an object that Stripe returns as an id or, if expanded, as a whole. */
export function idOf(shown: string | { id: string } | null | undefined): string | null {
  return typeof shown === 'string' ? shown : (shown?.id ?? null)
}

/** The attempt id in an object's metadata; null for objects of other systems, which can contain anything. */
export function attemptIdOf({ metadata }: { metadata: Stripe.Metadata | null }): string | null {
  return z.uuid().safeParse(metadata?.['attemptId']).data ?? null
}
