import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { MinuteLog } from '@robokids/runtime/minute-log'
import { eq } from 'drizzle-orm'
import { Counter } from 'prom-client'
import { z } from 'zod'
import { isLiveKey, type BillingContext } from '../config.ts'
import { handleStripeEvent, type StripeEvent } from './handle-event.ts'
import { stripeEvents } from '../schema.ts'
import { apiVersion } from '../stripe/client.ts'
import { verifySignature } from '../stripe/webhook-signature.ts'

/** Stripe's ids and types: anything else must not get into a URL, a log or the database. */
const word = z.string().regex(/^[\w.-]{1,255}$/)

const snapshotSchema = z.object({
  object: z.literal('event'),
  id: word,
  type: word,
  api_version: z.string().nullish(),
  livemode: z.boolean(),
  data: z.object({ object: z.object({ id: word.optional() }) }),
})
const thinSchema = z.object({
  object: z.literal('v2.core.event'),
  id: word,
  type: word,
  livemode: z.boolean(),
  related_object: z.object({ id: word }).nullish(),
  /** The snapshot event of the same occurrence: both count as one event. */
  snapshot_event: word.nullish(),
})
const eventSchema = z.discriminatedUnion('object', [snapshotSchema, thinSchema])

interface Received extends StripeEvent {
  livemode: boolean
  /** Undefined for a thin event, which has no versioned data. */
  apiVersion: string | null | undefined
}

/** @throws DomainError malformed_body */
function read(body: Buffer): Received {
  const parsed = eventSchema.safeParse(parseJson(body))
  if (!parsed.success) throw new DomainError('malformed_body', 'This is not an event of the payment provider.')
  const event = parsed.data
  if (event.object === 'event') {
    const { id, type, livemode, api_version, data } = event
    return { eventId: id, type, objectId: data.object.id ?? '', livemode, apiVersion: api_version ?? null }
  }
  const { id, type, livemode, related_object, snapshot_event } = event
  return {
    eventId: snapshot_event ?? id,
    type: type.replace(/^v1\./, ''),
    objectId: related_object?.id ?? '',
    livemode,
    apiVersion: undefined,
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** `POST /webhooks/stripe`, with its own body parser: the signature covers the raw bytes. */
export async function webhookRoutes(http: Http, context: BillingContext): Promise<void> {
  const { log } = context
  const received = new Counter({
    name: 'stripe_webhooks_total',
    help: 'Webhooks of the payment provider by type and outcome (handled, seen, ignored)',
    labelNames: ['type', 'outcome'],
    registers: [context.metrics.registry],
  })
  const versionMismatches = new Counter({
    name: 'stripe_api_version_mismatches_total',
    help: 'Webhooks in the shape of another API version than the one this service was built for',
    labelNames: ['version'],
    registers: [context.metrics.registry],
  })
  const { metrics } = context
  const unsigned = new MinuteLog(log, 'webhooks were refused for their signature')

  function verify(body: Buffer, signature: string | undefined): void {
    try {
      verifySignature(context, body, signature)
    } catch (error) {
      metrics.wrongGuesses.inc({ what: 'webhook_signature', outcome: 'wrong' })
      unsigned.record()
      throw error
    }
  }

  async function answer(body: Buffer, signature: string | undefined): Promise<'handled' | 'seen' | 'ignored'> {
    verify(body, signature)
    const { livemode, apiVersion: version, ...event } = read(body)
    if (livemode !== isLiveKey(context.config.STRIPE_SECRET_KEY)) {
      log.error({ ...event, livemode }, 'a webhook of the other mode (live or test) was ignored')
      return 'ignored'
    }
    if (version !== undefined && version !== apiVersion) {
      versionMismatches.inc({ version: version ?? 'none' })
      log.warn(
        { ...event, version, expected: apiVersion },
        'a webhook came in another API version; only its ids are used',
      )
    }
    const [known] = await context.db
      .select({ id: stripeEvents.id })
      .from(stripeEvents)
      .where(eq(stripeEvents.id, event.eventId))
    if (known) return 'seen'
    const outcome = await handleStripeEvent(context, event)
    if (outcome === 'ignored') log.info({ ...event }, 'a webhook was ignored')
    received.inc({ type: outcome === 'ignored' ? 'other' : event.type, outcome })
    return outcome
  }

  await http.register(async (webhooks) => {
    webhooks.removeAllContentTypeParsers()
    webhooks.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: 1024 * 1024 },
      (_request, body, done) => {
        done(null, body)
      },
    )
    webhooks.post('/webhooks/stripe', { schema: { hide: true } }, async (request) => {
      const signature = request.headers['stripe-signature']
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      return { received: await answer(body, typeof signature === 'string' ? signature : undefined) }
    })
  })
}
