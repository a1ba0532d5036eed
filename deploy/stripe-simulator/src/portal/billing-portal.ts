import { referencedCustomer } from '../payments/referenced-customer.ts'
import { existingIn, invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
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
  missing,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  type Decoded,
  type MetadataChange,
} from '../protocol/params.ts'
import type { BillingPortalConfiguration, BillingPortalSession, Cause } from '../protocol/types.ts'
/** Billing portal sessions and the actions that each allows. */
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type PortalSessionRecord } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'

const hour = 3600
type Features = BillingPortalConfiguration['features']

const prorationBehavior = optional(oneOf(['always_invoice', 'create_prorations', 'none']))

const features = object({
  customer_update: optional(
    object({
      allowed_updates: optional(clearable(list(oneOf(['address', 'email', 'name', 'phone', 'shipping', 'tax_id'])))),
      enabled: optional(boolean()),
    }),
  ),
  invoice_history: optional(object({ enabled: boolean() })),
  payment_method_update: optional(object({ enabled: boolean(), payment_method_configuration: notSimulated() })),
  subscription_cancel: optional(
    object({
      cancellation_reason: optional(
        object({
          enabled: boolean(),
          feedback_options: notSimulated(),
          options: optional(
            clearable(
              list(
                oneOf([
                  'customer_service',
                  'low_quality',
                  'missing_features',
                  'other',
                  'switched_service',
                  'too_complex',
                  'too_expensive',
                  'unused',
                ]),
              ),
            ),
          ),
        }),
      ),
      enabled: boolean(),
      mode: optional(oneOf(['at_period_end', 'immediately'])),
      proration_behavior: optional(oneOf(['none'])),
    }),
  ),
  subscription_pause: optional(object({ duration: notSimulated(), enabled: notSimulated('false') })),
  subscription_update: optional(
    object({
      billing_cycle_anchor: optional(oneOf(['now', 'unchanged'])),
      default_allowed_updates: optional(clearable(list(oneOf(['price', 'promotion_code', 'quantity'])))),
      enabled: boolean(),
      products: optional(
        clearable(
          list(object({ adjustable_quantity: notSimulated(), prices: list(string(), 10), product: string() }), 10),
        ),
      ),
      proration_behavior: prorationBehavior,
      schedule_at_period_end: notSimulated(),
      trial_update_behavior: optional(oneOf(['continue_trial', 'end_trial'])),
    }),
  ),
})

const businessProfile = object({
  headline: optional(clearable(string(60))),
  privacy_policy_url: optional(clearable(httpUrl())),
  terms_of_service_url: optional(clearable(httpUrl())),
})

function featuresOf(ctx: Context, given: Decoded<typeof features>): Features {
  const { customer_update: profile, subscription_cancel: cancel, subscription_update: update } = given
  const products = (update?.products ?? []).map((one, index) => {
    const param = `features[subscription_update][products][${index}]`
    if (!ctx.store.products.has(one.product)) throw noSuchReference('product', one.product, `${param}[product]`)
    for (const [at, price] of one.prices.entries()) {
      if (idOf(ctx.store.prices.get(price)?.product) !== one.product) {
        throw noSuchReference('price', price, `${param}[prices][${at}]`)
      }
    }
    return {
      adjustable_quantity: { enabled: false, maximum: null, minimum: 1 },
      prices: one.prices,
      product: one.product,
    }
  })
  if (update?.enabled === true && products.length === 0) throw missing('features[subscription_update][products]')
  return {
    customer_update: { allowed_updates: profile?.allowed_updates ?? [], enabled: profile?.enabled ?? false },
    invoice_history: { enabled: given.invoice_history?.enabled ?? false },
    payment_method_update: {
      enabled: given.payment_method_update?.enabled ?? false,
      payment_method_configuration: null,
    },
    subscription_cancel: {
      cancellation_reason: {
        enabled: cancel?.cancellation_reason?.enabled ?? false,
        feedback_options: null,
        options: cancel?.cancellation_reason?.options ?? [],
      },
      enabled: cancel?.enabled ?? false,
      mode: cancel?.mode ?? 'at_period_end',
      proration_behavior: 'none',
    },
    subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
    subscription_update: {
      billing_cycle_anchor: update?.billing_cycle_anchor ?? null,
      default_allowed_updates: update?.default_allowed_updates ?? [],
      enabled: update?.enabled ?? false,
      products,
      proration_behavior: update?.proration_behavior ?? 'none',
      schedule_at_period_end: { conditions: [] },
      trial_update_behavior: update?.trial_update_behavior ?? 'end_trial',
    },
  }
}

interface NewConfiguration {
  features: Features
  isDefault: boolean
  name?: string | null | undefined
  returnUrl?: string | null | undefined
  metadata?: MetadataChange | undefined
  profile?: Decoded<typeof businessProfile> | undefined
}

function createConfiguration(ctx: Context, of: NewConfiguration): BillingPortalConfiguration {
  const now = ctx.clock.seconds()
  const configuration: BillingPortalConfiguration = {
    id: newId('bpc_1'),
    object: 'billing_portal.configuration',
    active: true,
    application: null,
    business_profile: {
      headline: of.profile?.headline ?? null,
      privacy_policy_url: of.profile?.privacy_policy_url ?? null,
      terms_of_service_url: of.profile?.terms_of_service_url ?? null,
    },
    created: now,
    default_return_url: of.returnUrl ?? null,
    features: of.features,
    is_default: of.isDefault,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata: mergeMetadata({}, of.metadata),
    name: of.name ?? null,
    updated: now,
  }
  ctx.store.portalConfigurations.set(configuration.id, configuration)
  return configuration
}

/**
 * The default configuration. Stripe requires saving it in the dashboard first; here it exists
 * from the start: cards, cancellation at the period's end, invoices, and switches to every active recurring price.
 */
function defaultConfiguration(ctx: Context): BillingPortalConfiguration {
  for (const one of ctx.store.portalConfigurations.values()) if (one.is_default) return one
  return createConfiguration(ctx, {
    isDefault: true,
    features: {
      customer_update: { allowed_updates: [], enabled: false },
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true, payment_method_configuration: null },
      subscription_cancel: {
        cancellation_reason: { enabled: false, feedback_options: null, options: [] },
        enabled: true,
        mode: 'at_period_end',
        proration_behavior: 'none',
      },
      subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
      subscription_update: {
        billing_cycle_anchor: null,
        default_allowed_updates: ['price'],
        enabled: true,
        products: null,
        proration_behavior: 'create_prorations',
        schedule_at_period_end: { conditions: [] },
        trial_update_behavior: 'end_trial',
      },
    },
  })
}

export function configurationOf(ctx: Context, session: BillingPortalSession): BillingPortalConfiguration {
  return ctx.store.portalConfigurations.get(idOf(session.configuration)) ?? defaultConfiguration(ctx)
}

const flowData = object({
  after_completion: optional(
    object({
      hosted_confirmation: optional(object({ custom_message: optional(string(500)) })),
      redirect: optional(object({ return_url: httpUrl() })),
      type: oneOf(['hosted_confirmation', 'portal_homepage', 'redirect']),
    }),
  ),
  subscription_cancel: optional(object({ retention: notSimulated(), subscription: string() })),
  subscription_pause: notSimulated(),
  subscription_update: optional(object({ subscription: string() })),
  subscription_update_confirm: optional(
    object({
      discounts: notSimulated(),
      items: list(object({ id: string(), price: string(), quantity: notSimulated('1') }), 1),
      subscription: string(),
    }),
  ),
  type: oneOf(['payment_method_update', 'subscription_cancel', 'subscription_update', 'subscription_update_confirm']),
})

type Flow = NonNullable<BillingPortalSession['flow']>

function flowOf(ctx: Context, given: Decoded<typeof flowData>, customer: string): Flow {
  const { type, after_completion: after } = given
  const of = type === 'payment_method_update' ? undefined : given[type]
  if (type !== 'payment_method_update' && of === undefined) throw missing(`flow_data[${type}]`)
  if (of !== undefined) {
    const param = `flow_data[${type}][subscription]`
    const subscription = ctx.store.subscriptions.get(of.subscription)
    if (subscription === undefined || subscription.customer !== customer) {
      throw noSuchReference('subscription', of.subscription, param)
    }
    if (type === 'subscription_cancel' && (subscription.cancel_at !== null || subscription.status === 'canceled')) {
      throw invalidRequest(
        `The subscription ${subscription.id} is already set to be canceled, or is canceled: it cannot be canceled in a flow.`,
        { param },
      )
    }
  }
  const confirm = given.subscription_update_confirm
  for (const [index, item] of (confirm?.items ?? []).entries()) {
    if (!ctx.store.prices.has(item.price)) {
      throw noSuchReference('price', item.price, `flow_data[subscription_update_confirm][items][${index}][price]`)
    }
  }
  return {
    after_completion: {
      hosted_confirmation:
        after?.type === 'hosted_confirmation'
          ? { custom_message: after.hosted_confirmation?.custom_message ?? null }
          : null,
      redirect: after?.type === 'redirect' ? { return_url: after.redirect?.return_url ?? '' } : null,
      type: after?.type ?? 'portal_homepage',
    },
    customer_update: null,
    subscription_cancel:
      type === 'subscription_cancel' ? { retention: null, subscription: of?.subscription ?? '' } : null,
    subscription_pause: null,
    subscription_update: type === 'subscription_update' ? { subscription: of?.subscription ?? '' } : null,
    subscription_update_confirm:
      type === 'subscription_update_confirm' && confirm !== undefined
        ? {
            discounts: null,
            items: confirm.items.map((item) => ({ id: item.id, price: item.price, quantity: 1 })),
            subscription: confirm.subscription,
          }
        : null,
    type,
  }
}

const sessionParams = object({
  ...expandParam,
  after_expiration: notSimulated(),
  configuration: optional(string()),
  customer: string(),
  customer_account: notSimulated(),
  flow_data: optional(flowData),
  locale: optional(string(10)),
  on_behalf_of: notSimulated(),
  return_url: optional(httpUrl()),
})

function createSession(ctx: Context, params: Decoded<typeof sessionParams>, cause: Cause): BillingPortalSession {
  const customer = referencedCustomer(ctx, params.customer, 'customer')
  const named = params.configuration
  const configuration = named === undefined ? defaultConfiguration(ctx) : ctx.store.portalConfigurations.get(named)
  if (configuration === undefined) throw noSuchReference('configuration', named ?? '', 'configuration')
  const flow = params.flow_data === undefined ? null : flowOf(ctx, params.flow_data, customer.id)
  if (params.flow_data?.after_completion?.type === 'redirect' && flow?.after_completion.redirect?.return_url === '') {
    throw missing('flow_data[after_completion][redirect]')
  }
  const id = newId('bps_1')
  const session: BillingPortalSession = {
    id,
    object: 'billing_portal.session',
    configuration: configuration.id,
    created: ctx.clock.seconds(),
    customer: customer.id,
    customer_account: null,
    flow,
    livemode: false,
    locale: params.locale ?? null,
    on_behalf_of: null,
    return_url: params.return_url ?? configuration.default_return_url,
    url: `${ctx.settings.publicUrl}/p/session/${id}`,
  }
  ctx.store.portalSessions.set(id, { object: session, expiresAt: ctx.clock.seconds() + hour, done: null })
  emit(ctx, 'billing_portal.session.created', session, cause)
  return session
}

/** Returns the session if its link is still valid: for an hour, as Stripe's. */
export function openPortalSession(ctx: Context, id: string): PortalSessionRecord | undefined {
  const record = ctx.store.portalSessions.get(id)
  return record !== undefined && ctx.clock.seconds() < record.expiresAt ? record : undefined
}

function existing({ store }: Context, id: string): BillingPortalConfiguration {
  return existingIn(store.portalConfigurations, id, 'configuration', 'configuration')
}

export const billingPortalRoutes: Routes = (route) => {
  route({
    method: 'POST',
    path: '/v1/billing_portal/sessions',
    params: sessionParams,
    run: (ctx, params: Decoded<typeof sessionParams>, _path, cause) => createSession(ctx, params, cause),
  })

  route(
    post(
      '/v1/billing_portal/configurations',
      {
        ...expandParam,
        business_profile: optional(businessProfile),
        default_return_url: optional(clearable(httpUrl())),
        features,
        login_page: optional(object({ enabled: notSimulated('false') })),
        metadata: optional(metadata()),
        name: optional(clearable(string())),
      },
      (ctx, params, _path, cause) => {
        const configuration = createConfiguration(ctx, {
          features: featuresOf(ctx, params.features),
          isDefault: false,
          metadata: params.metadata,
          name: params.name,
          profile: params.business_profile,
          returnUrl: params.default_return_url,
        })
        emit(ctx, 'billing_portal.configuration.created', configuration, cause)
        return configuration
      },
    ),
  )

  route(
    get(
      '/v1/billing_portal/configurations',
      { ...listParams, active: optional(boolean()), is_default: optional(boolean()) },
      (ctx, { active, is_default: isDefault, ...paging }) => {
        const found = newestFirst(ctx.store.portalConfigurations).filter(
          (one) =>
            (active === undefined || one.active === active) &&
            (isDefault === undefined || one.is_default === isDefault),
        )
        return page(found, paging, '/v1/billing_portal/configurations', 'configuration')
      },
    ),
  )

  route(get('/v1/billing_portal/configurations/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post(
      '/v1/billing_portal/configurations/:id',
      {
        ...expandParam,
        active: optional(boolean()),
        business_profile: optional(businessProfile),
        default_return_url: optional(clearable(httpUrl())),
        features: optional(features),
        metadata: optional(metadata()),
        name: optional(clearable(string())),
      },
      (ctx, params, { id }, cause) => {
        const configuration = existing(ctx, id)
        const before = structuredClone(configuration)
        if (params.active !== undefined) configuration.active = params.active
        if (params.default_return_url !== undefined) configuration.default_return_url = params.default_return_url
        if (params.name !== undefined) configuration.name = params.name
        const { headline, privacy_policy_url: privacy, terms_of_service_url: terms } = params.business_profile ?? {}
        if (headline !== undefined) configuration.business_profile.headline = headline
        if (privacy !== undefined) configuration.business_profile.privacy_policy_url = privacy
        if (terms !== undefined) configuration.business_profile.terms_of_service_url = terms
        if (params.features !== undefined) {
          const given = Object.entries(params.features).filter(([, value]) => value !== undefined)
          const next = featuresOf(ctx, params.features)
          const changed = given.map(([name]) => [name, next[name as keyof Features]])
          Object.assign(configuration.features, Object.fromEntries(changed))
        }
        configuration.metadata = mergeMetadata(configuration.metadata ?? {}, params.metadata)
        configuration.updated = ctx.clock.seconds()
        emitChange(ctx, 'billing_portal.configuration.updated', before, configuration, cause)
        return configuration
      },
    ),
  )
}
