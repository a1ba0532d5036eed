/** Event destinations of API v2: webhook endpoints for thin events or snapshots. */
import type Stripe from 'stripe'
import { latestApiVersion } from '../protocol/api-versions.ts'
import { ApiError, invalidRequest } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import {
  httpUrl,
  integer,
  list,
  mergeMetadata,
  metadata,
  missing,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
} from '../protocol/params.ts'
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type EndpointRecord } from '../store/store.ts'
import { apiVersion, createEndpoint, eventName } from './webhook-endpoints.ts'

type Destination = Stripe.V2.Core.EventDestination

const includable = ['webhook_endpoint.signing_secret', 'webhook_endpoint.url'] as const
type Includes = readonly (typeof includable)[number][] | undefined

const include = optional(list(oneOf(['webhook_endpoint.url'])))
const description = optional((value: unknown) => String(value).slice(0, 5000))

/** The types of thin events are those of snapshots with the API version as a prefix. */
const thinPrefix = 'v1.'

/** Each payload has its own event types. */
function eventNames(payload: 'snapshot' | 'thin', given: Parameters<ReturnType<typeof eventName>>[0][]): string[] {
  const prefix = payload === 'thin' ? thinPrefix : ''
  return given.map((one, index) => {
    const name = eventName(prefix)(one, `enabled_events[${index}]`)
    return name === '*' ? name : name.slice(prefix.length)
  })
}

function shown(record: EndpointRecord, includes: Includes): Destination {
  const { object: endpoint, payload, secrets, destination } = record
  const isDisabled = endpoint.status === 'disabled'
  const prefix = payload === 'thin' ? thinPrefix : ''
  return {
    id: endpoint.id,
    object: 'v2.core.event_destination',
    created: new Date(endpoint.created * 1000).toISOString(),
    description: destination?.description ?? '',
    enabled_events: endpoint.enabled_events.map((name) => (name === '*' ? name : prefix + name)),
    event_payload: payload,
    events_from: ['self'],
    livemode: false,
    metadata: endpoint.metadata,
    name: destination?.name ?? '',
    ...(payload === 'snapshot' ? { snapshot_api_version: endpoint.api_version ?? latestApiVersion } : {}),
    status: isDisabled ? 'disabled' : 'enabled',
    ...(isDisabled ? { status_details: { disabled: { reason: 'user' } } } : {}),
    type: 'webhook_endpoint',
    updated: new Date((destination?.updated ?? endpoint.created) * 1000).toISOString(),
    webhook_endpoint: {
      ...(includes?.includes('webhook_endpoint.signing_secret') === true ? { signing_secret: secrets[0] ?? '' } : {}),
      ...(includes?.includes('webhook_endpoint.url') === true ? { url: endpoint.url } : {}),
    },
  }
}

function existing({ store }: Context, id: string): EndpointRecord & Required<Pick<EndpointRecord, 'destination'>> {
  const record = store.endpoints.get(id)
  if (record?.destination === undefined) {
    throw new ApiError(404, {
      type: 'invalid_request_error',
      code: 'not_found',
      message: `Event destination not found: ${id.slice(0, 200)}`,
    })
  }
  return record as EndpointRecord & Required<Pick<EndpointRecord, 'destination'>>
}

function touch(ctx: Context, record: ReturnType<typeof existing>): void {
  record.destination.updated = ctx.clock.seconds()
  ctx.store.endpoints.save(record.object.id)
}

export const eventDestinationRoutes: Routes = (route) => {
  route(
    post(
      '/v2/core/event_destinations',
      {
        amazon_eventbridge: notSimulated(),
        azure_event_grid: notSimulated(),
        description,
        enabled_events: list((value) => value, 500),
        event_payload: oneOf(['snapshot', 'thin']),
        events_from: optional(list(oneOf(['self']))),
        include: optional(list(oneOf(includable))),
        metadata: optional(metadata()),
        name: string(200),
        snapshot_api_version: optional(apiVersion),
        type: string(60),
        webhook_endpoint: optional(object({ url: httpUrl() })),
      },
      (ctx, params) => {
        if (params.type !== 'webhook_endpoint') {
          throw invalidRequest('The payment simulator supports event destinations of type `webhook_endpoint` only.', {
            param: 'type',
          })
        }
        if (params.webhook_endpoint === undefined) throw missing('webhook_endpoint')
        if (params.event_payload === 'thin' && params.snapshot_api_version !== undefined) {
          throw invalidRequest('`snapshot_api_version` can only be used with the event payload `snapshot`.', {
            param: 'snapshot_api_version',
          })
        }
        const record = createEndpoint(ctx, {
          url: params.webhook_endpoint.url,
          secret: newId('whsec_'),
          enabledEvents: eventNames(params.event_payload, params.enabled_events),
          apiVersion: params.snapshot_api_version,
          metadata: mergeMetadata({}, params.metadata),
          payload: params.event_payload,
          destination: { name: params.name, description: params.description ?? '', updated: ctx.clock.seconds() },
        })
        return shown(record, params.include)
      },
    ),
  )

  route(
    get(
      '/v2/core/event_destinations',
      { include, limit: optional(integer(1, 100)), page: optional(string()) },
      (ctx, { include: includes, limit = 20, page: after }) => {
        const all = newestFirst(ctx.store.endpoints).filter((record) => record.destination !== undefined)
        const start = after === undefined ? 0 : all.findIndex((record) => record.object.id === after) + 1
        const found = all.slice(start, start + limit)
        const query = new URLSearchParams({ limit: String(limit), page: found.at(-1)?.object.id ?? '' })
        for (const [index, one] of (includes ?? []).entries()) query.set(`include[${index}]`, one)
        return {
          data: found.map((record) => shown(record, includes)),
          next_page_url: start + limit < all.length ? `/v2/core/event_destinations?${query.toString()}` : null,
          previous_page_url: null,
        }
      },
    ),
  )

  route(
    get('/v2/core/event_destinations/:id', { include }, (ctx, params, { id }) =>
      shown(existing(ctx, id), params.include),
    ),
  )

  route(
    post(
      '/v2/core/event_destinations/:id',
      {
        description,
        enabled_events: optional(list((value) => value, 500)),
        include,
        metadata: optional(metadata()),
        name: optional(string(200)),
        webhook_endpoint: optional(object({ url: httpUrl() })),
      },
      (ctx, params, { id }) => {
        const record = existing(ctx, id)
        const { object: endpoint, destination } = record
        const names = params.enabled_events && eventNames(record.payload, params.enabled_events)
        if (names !== undefined) endpoint.enabled_events = names
        if (params.description !== undefined) destination.description = params.description
        if (params.name !== undefined) destination.name = params.name
        if (params.webhook_endpoint !== undefined) endpoint.url = params.webhook_endpoint.url
        endpoint.metadata = mergeMetadata(endpoint.metadata, params.metadata)
        touch(ctx, record)
        return shown(record, params.include)
      },
    ),
  )

  for (const [action, status] of [
    ['disable', 'disabled'],
    ['enable', 'enabled'],
  ] as const) {
    route(
      post(`/v2/core/event_destinations/:id/${action}`, {}, (ctx, _params, { id }) => {
        const record = existing(ctx, id)
        record.object.status = status
        touch(ctx, record)
        return shown(record, undefined)
      }),
    )
  }

  route(
    post('/v2/core/event_destinations/:id/ping', {}, (ctx, _params, { id }) => {
      existing(ctx, id)
      throw invalidRequest('The payment simulator sends no `v2.core.event_destination.ping`.')
    }),
  )

  route(
    del('/v2/core/event_destinations/:id', {}, (ctx, _params, { id }) => {
      existing(ctx, id)
      ctx.store.endpoints.delete(id)
      return { id, object: 'v2.core.event_destination' }
    }),
  )
}
