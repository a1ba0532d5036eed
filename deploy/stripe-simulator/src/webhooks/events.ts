import { matchesType } from '../deliveries/deliveries.ts'
import { latestApiVersion } from '../protocol/api-versions.ts'
import { ApiError, noSuch } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { boolean, list, listParams, oneOf, optional, string, timeRange } from '../protocol/params.ts'
import type { Cause, SnapshotEvent } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { get, type Routes } from '../resources/routes.ts'
import { newestFirst, type EventRecord } from '../store/store.ts'

/** The API paths of objects, for a thin event's `related_object.url`. */
const paths: Record<string, string> = {
  'checkout.session': '/v1/checkout/sessions/',
  payment_intent: '/v1/payment_intents/',
  charge: '/v1/charges/',
  refund: '/v1/refunds/',
  customer: '/v1/customers/',
  subscription: '/v1/subscriptions/',
  invoice: '/v1/invoices/',
  invoice_payment: '/v1/invoice_payments/',
  dispute: '/v1/disputes/',
  payment_method: '/v1/payment_methods/',
  price: '/v1/prices/',
  product: '/v1/products/',
  'billing_portal.configuration': '/v1/billing_portal/configurations/',
  'test_helpers.test_clock': '/v1/test_helpers/test_clocks/',
}

const keptSeconds = 30 * 24 * 3600

/**
 * Records an event and sends it to the webhook endpoints. The object is copied: an event shows it as it
 * was. Each event exists as a snapshot and as a thin event.
 */
export function emit(
  ctx: Context,
  type: string,
  /** Without an id: a preview, which cannot be fetched. */
  object: { id?: string; object: string },
  cause: Cause,
  previousAttributes?: Record<string, unknown>,
): SnapshotEvent {
  const created = ctx.clock.seconds()
  const snapshot: SnapshotEvent = {
    id: newId('evt_1'),
    object: 'event',
    api_version: latestApiVersion,
    created,
    data: {
      object: structuredClone(object),
      ...(previousAttributes === undefined ? {} : { previous_attributes: previousAttributes }),
    },
    livemode: false,
    pending_webhooks: 0,
    request: { id: cause.requestId, idempotency_key: cause.idempotencyKey },
    type,
  }
  const record: EventRecord = {
    snapshot,
    thin: {
      id: newId('evt_test_65'),
      object: 'v2.core.event',
      created: new Date(created * 1000).toISOString(),
      livemode: false,
      ...(cause.requestId === null
        ? {}
        : {
            reason: {
              type: 'request',
              request: { id: cause.requestId, idempotency_key: cause.idempotencyKey ?? '' },
            },
          }),
      related_object:
        object.id === undefined
          ? null
          : { id: object.id, type: object.object, url: `${paths[object.object] ?? '/v1/'}${object.id}` },
      snapshot_event: snapshot.id,
      type: `v1.${type}`,
    },
  }
  ctx.store.events.set(snapshot.id, record)
  ctx.store.save(object)
  ctx.deliveries.send(record)
  return snapshot
}

/** Emits an event if an object differs from `before`. */
export function emitChange(
  ctx: Context,
  type: string,
  before: object,
  object: { id: string; object: string },
  cause: Cause,
): void {
  const changes = previousAttributes(before, object)
  if (Object.keys(changes).length > 0) emit(ctx, type, object, cause, changes)
}

/** The changed properties with their old values. Hashes are compared by key; arrays and lists as a whole. */
function previousAttributes(before: object, after: object): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const [key, old] of Object.entries(before) as [string, unknown][]) {
    const now: unknown = (after as Record<string, unknown>)[key]
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    changes[key] = isHash(old) && isHash(now) ? previousAttributes(old, now) : (old ?? null)
  }
  for (const key of Object.keys(after)) {
    if (!(key in before)) changes[key] = null
  }
  return changes
}

function isHash(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The event with its current `pending_webhooks`. */
export function rendered(ctx: Context, record: EventRecord): SnapshotEvent {
  return { ...record.snapshot, pending_webhooks: ctx.deliveries.pendingFor(record.snapshot.id) }
}

function kept(ctx: Context): EventRecord[] {
  const oldest = ctx.clock.seconds() - keptSeconds
  return newestFirst(ctx.store.events).filter((record) => record.snapshot.created >= oldest)
}

export const eventRoutes: Routes = (route) => {
  route(
    get(
      '/v1/events',
      {
        ...listParams,
        created: timeRange(),
        type: optional(string()),
        types: optional(list(string(), 20)),
        delivery_success: optional(boolean()),
      },
      (ctx, { created, type, types, delivery_success, ...paging }) => {
        const wanted = [...(types ?? []), ...(type === undefined ? [] : [type])]
        const found = kept(ctx)
          .map((record) => rendered(ctx, record))
          .filter(
            (event) =>
              created(event.created) &&
              (wanted.length === 0 || wanted.some((one) => matchesType(one, event.type))) &&
              (delivery_success === undefined || delivery_success === (event.pending_webhooks === 0)),
          )
        return page(found, paging, '/v1/events', 'event')
      },
    ),
  )

  route(
    get('/v1/events/:id', { expand: listParams.expand }, (ctx, _params, { id }) => {
      const record = ctx.store.events.get(id)
      if (record === undefined) throw noSuch('event', id, 'id')
      return rendered(ctx, record)
    }),
  )

  route(
    get('/v2/core/events/:id', {}, (ctx, _params, { id }) => {
      const record = kept(ctx).find((one) => one.thin.id === id || one.snapshot.id === id)
      if (record === undefined) {
        throw new ApiError(404, {
          type: 'invalid_request_error',
          code: 'not_found',
          message: `Event not found: ${id.slice(0, 200)}`,
        })
      }
      return record.thin
    }),
  )

  route(
    get(
      '/v2/core/events',
      {
        limit: listParams.limit,
        page: optional(string()),
        object_id: optional(string()),
        types: optional(list(string(), 20)),
        order: optional(oneOf(['newest'])),
      },
      (ctx, { limit = 20, page: after, object_id, types }) => {
        const found = kept(ctx)
          .map((record) => record.thin)
          .filter(
            (event) =>
              (object_id === undefined || event.related_object?.id === object_id) &&
              (types === undefined || types.includes(event.type)),
          )
        const data = page(found, { limit, starting_after: after }, '/v2/core/events', 'event')
        const last = data.data.at(-1)
        const query = new URLSearchParams({ limit: String(limit) })
        if (object_id !== undefined) query.set('object_id', object_id)
        for (const [index, one] of (types ?? []).entries()) query.set(`types[${index}]`, one)
        if (last !== undefined) query.set('page', last.id)
        return {
          data: data.data,
          next_page_url: data.has_more ? `/v2/core/events?${query.toString()}` : null,
          previous_page_url: null,
        }
      },
    ),
  )
}
