import { latestApiVersion } from '../protocol/api-versions.ts'
import { existingIn, invalidRequest, noSuch } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import {
  boolean,
  clearable,
  expandParam,
  httpUrl,
  list,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  optional,
  string,
  type Decoder,
} from '../protocol/params.ts'
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type EndpointRecord, type Store } from '../store/store.ts'
import { eventTypes } from './event-types.ts'

/** A webhook endpoint configured at startup, in addition to those created by the API. */
export interface ConfiguredWebhook {
  url: string
  /** One signing secret, or several while one is being rolled: the newest first. */
  secret: string | readonly string[]
  /** Event types, `*` (the default) or a group such as `charge.*`. */
  enabled_events?: readonly string[]
  /** The API version of snapshots. Default: the simulator's. */
  api_version?: string
  /** The kind of events. Default: `snapshot`. */
  payload?: 'snapshot' | 'thin'
}

/** Replaces the endpoints configured at the last start; the same URL keeps its id. */
export function configureEndpoints(store: Store, webhooks: readonly ConfiguredWebhook[], now: number): void {
  const old = [...store.endpoints.values()].filter((record) => record.configured)
  for (const record of old) store.endpoints.delete(record.object.id)
  for (const webhook of webhooks) {
    const known = old.find((record) => record.object.url === webhook.url)
    const record: EndpointRecord = {
      object: {
        id: known?.object.id ?? newId('we_1'),
        object: 'webhook_endpoint',
        api_version: webhook.api_version ?? latestApiVersion,
        application: null,
        created: known?.object.created ?? now,
        description: 'Configured at start',
        enabled_events: [...(webhook.enabled_events ?? ['*'])],
        livemode: false,
        metadata: {},
        status: 'enabled',
        url: webhook.url,
      },
      secrets: typeof webhook.secret === 'string' ? [webhook.secret] : [...webhook.secret],
      payload: webhook.payload ?? 'snapshot',
      configured: true,
    }
    store.endpoints.set(record.object.id, record)
  }
}

interface NewEndpoint {
  url: string
  secret: string
  enabledEvents: string[]
  apiVersion?: string | undefined
  description?: string | null | undefined
  metadata?: Record<string, string>
  payload: 'snapshot' | 'thin'
  destination?: EndpointRecord['destination']
}

export function createEndpoint(ctx: Context, of: NewEndpoint): EndpointRecord {
  const record: EndpointRecord = {
    object: {
      id: newId(of.destination === undefined ? 'we_1' : 'ed_test_61'),
      object: 'webhook_endpoint',
      api_version: of.apiVersion ?? latestApiVersion,
      application: null,
      created: ctx.clock.seconds(),
      description: of.description ?? null,
      enabled_events: of.enabledEvents,
      livemode: false,
      metadata: of.metadata ?? {},
      status: 'enabled',
      url: of.url,
    },
    secrets: [of.secret],
    payload: of.payload,
    configured: false,
    ...(of.destination === undefined ? {} : { destination: of.destination }),
  }
  ctx.store.endpoints.set(record.object.id, record)
  return record
}

const maxGraceSeconds = 24 * 3600

/** Rolls an endpoint's secret; the old one also signs for at most a day, as with Stripe's "Roll secret". */
export function rollSecret(ctx: Context, record: EndpointRecord, secret: string, graceSeconds: number): void {
  const until = Date.now() + Math.min(graceSeconds, maxGraceSeconds) * 1000
  record.retiring = [...record.secrets.map((old) => ({ secret: old, until })), ...(record.retiring ?? [])]
  record.secrets = [secret]
  ctx.store.endpoints.save(record.object.id)
}

/** An event type with `prefix`, or `*` for all. */
export function eventName(prefix = ''): Decoder<string> {
  return (value, param) => {
    const name = string(100)(value, param)
    if (name !== '*' && !(name.startsWith(prefix) && eventTypes.includes(name.slice(prefix.length)))) {
      const known = ['*', ...eventTypes.map((type) => prefix + type)]
      throw invalidRequest(`Invalid ${param}: must be one of ${known.slice(0, -1).join(', ')}, or ${known.at(-1)}`, {
        param,
      })
    }
    return name
  }
}

export const apiVersion: Decoder<string> = (value, param) => {
  const version = string(60)(value, param)
  if (!/^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$/.test(version)) {
    throw invalidRequest(`Invalid API version: ${version}`, { param })
  }
  return version
}

function existing({ store }: Context, id: string): EndpointRecord {
  const record = existingIn(store.endpoints, id, 'webhook endpoint', 'webhook_endpoint')
  if (record.destination !== undefined) throw noSuch('webhook endpoint', id, 'webhook_endpoint')
  return record
}

export const webhookEndpointRoutes: Routes = (route) => {
  route(
    post(
      '/v1/webhook_endpoints',
      {
        ...expandParam,
        api_version: optional(apiVersion),
        connect: notSimulated('false'),
        description: optional(clearable(string())),
        enabled_events: list(eventName(), 500),
        metadata: optional(metadata()),
        url: httpUrl(),
      },
      (ctx, params) => {
        const secret = newId('whsec_')
        const record = createEndpoint(ctx, {
          url: params.url,
          secret,
          enabledEvents: params.enabled_events,
          apiVersion: params.api_version,
          description: params.description,
          metadata: mergeMetadata({}, params.metadata),
          payload: 'snapshot',
        })
        // The secret is only returned on creation, as by Stripe.
        return { ...record.object, secret }
      },
    ),
  )

  route(
    get('/v1/webhook_endpoints', listParams, (ctx, paging) =>
      page(
        newestFirst(ctx.store.endpoints)
          .filter((record) => record.destination === undefined)
          .map((record) => record.object),
        paging,
        '/v1/webhook_endpoints',
        'webhook endpoint',
      ),
    ),
  )

  route(get('/v1/webhook_endpoints/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id).object))

  route(
    post(
      '/v1/webhook_endpoints/:id',
      {
        ...expandParam,
        description: optional(clearable(string())),
        disabled: optional(boolean()),
        enabled_events: optional(list(eventName(), 500)),
        metadata: optional(metadata()),
        url: optional(httpUrl()),
      },
      (ctx, params, { id }) => {
        const endpoint = existing(ctx, id).object
        if (params.description !== undefined) endpoint.description = params.description
        if (params.disabled !== undefined) endpoint.status = params.disabled ? 'disabled' : 'enabled'
        if (params.enabled_events !== undefined) endpoint.enabled_events = params.enabled_events
        if (params.url !== undefined) endpoint.url = params.url
        endpoint.metadata = mergeMetadata(endpoint.metadata, params.metadata)
        ctx.store.endpoints.save(id)
        return endpoint
      },
    ),
  )

  route(
    del('/v1/webhook_endpoints/:id', expandParam, (ctx, _params, { id }) => {
      existing(ctx, id)
      ctx.store.endpoints.delete(id)
      return { id, object: 'webhook_endpoint', deleted: true }
    }),
  )
}
