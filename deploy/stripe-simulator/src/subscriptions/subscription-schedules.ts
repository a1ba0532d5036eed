import { existingIn, invalidRequest, noSuchReference } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import {
  expandParam,
  integer,
  list,
  mergeMetadata,
  metadata,
  notSimulated,
  object,
  oneOf,
  optional,
  string,
  type Decoded,
} from '../protocol/params.ts'
import { noRequest, type Cause, type Price, type Subscription, type SubscriptionSchedule } from '../protocol/types.ts'
/** Subscription schedules: future changes of a subscription by phases. Created from a running subscription. */
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { endedStatuses } from './end-subscription.ts'
import { newItemParams, planOf, recurringPrice } from './subscription-items.ts'

type Phase = SubscriptionSchedule['phases'][number]

function phaseOf(
  currency: string,
  items: readonly { price: Price; quantity: number }[],
  start: number,
  end: number,
): Phase {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    end_date: end,
    invoice_settings: null,
    items: items.map(({ price, quantity }) => ({
      billing_thresholds: null,
      discounts: [],
      metadata: {},
      plan: price.id,
      price: price.id,
      quantity,
      tax_rates: [],
    })),
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'none',
    start_date: start,
    transfer_data: null,
    trial_end: null,
  }
}

function scheduleFrom(ctx: Context, subscription: Subscription): SubscriptionSchedule {
  const items = subscription.items.data
  const [first] = items
  const start = first?.current_period_start ?? 0
  const end = first?.current_period_end ?? 0
  return {
    id: newId('sub_sched_1'),
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    canceled_at: null,
    completed_at: null,
    created: ctx.clock.seconds(),
    current_phase: { start_date: start, end_date: end },
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: 'release',
    livemode: false,
    metadata: {},
    pause_schedules: [],
    phases: [
      phaseOf(
        subscription.currency,
        items.map(({ price, quantity }) => ({ price, quantity: quantity ?? 1 })),
        start,
        end,
      ),
    ],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: subscription.id,
    test_clock: subscription.test_clock,
  }
}

const phaseParams = object({
  add_invoice_items: notSimulated(),
  billing_cycle_anchor: notSimulated(),
  collection_method: notSimulated('charge_automatically'),
  currency: optional(string(10)),
  default_payment_method: notSimulated(),
  description: notSimulated(),
  discounts: notSimulated(),
  duration: optional(
    object({ interval: oneOf(['day', 'week', 'month', 'year']), interval_count: optional(integer(1, 36)) }),
  ),
  end_date: optional(integer(0)),
  items: list(newItemParams, 20),
  metadata: notSimulated(),
  proration_behavior: optional(oneOf(['none'])),
  start_date: optional(integer(0)),
  trial: notSimulated('false'),
  trial_end: notSimulated(),
})

const updateParams = {
  ...expandParam,
  default_settings: notSimulated(),
  end_behavior: optional(oneOf(['release'])),
  metadata: optional(metadata()),
  phases: optional(list(phaseParams, 10)),
  proration_behavior: optional(oneOf(['none'])),
}

/** Phases are contiguous, and each has a duration. */
function phasesOf(ctx: Context, schedule: SubscriptionSchedule, given: Decoded<typeof phaseParams>[]): Phase[] {
  let start = schedule.current_phase?.start_date ?? ctx.clock.seconds()
  const kept = schedule.phases.flatMap((phase) => phase.items.map((item) => idOf(item.price)))
  return given.map((phase, index) => {
    const param = `phases[${index}]`
    if (phase.start_date !== undefined && phase.start_date !== start) {
      throw invalidRequest('The start date of a phase must be the end date of the one before.', {
        param: `${param}[start_date]`,
      })
    }
    const items = phase.items.map((item, at) => {
      const price = recurringPrice(ctx, item, `${param}[items][${at}]`, kept)
      if (price === undefined) {
        throw invalidRequest('A phase item needs a price.', { param: `${param}[items][${at}][price]` })
      }
      return { price, quantity: item.quantity ?? 1 }
    })
    const end = phase.end_date ?? endOf(start, phase.duration)
    if (end === undefined) {
      throw invalidRequest('You must pass either `end_date` or `duration` for each phase.', { param })
    }
    if (end <= start) throw invalidRequest('A phase must end after it starts.', { param: `${param}[end_date]` })
    const [first] = items
    const made = phaseOf(first?.price.currency ?? 'usd', items, start, end)
    start = end
    return made
  })
}

function endOf(
  start: number,
  duration: { interval: 'day' | 'week' | 'month' | 'year'; interval_count?: number | undefined } | undefined,
): number | undefined {
  if (duration === undefined) return undefined
  const units = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const
  return (
    Temporal.Instant.fromEpochMilliseconds(start * 1000)
      .toZonedDateTimeISO('UTC')
      .add({ [units[duration.interval]]: duration.interval_count ?? 1 }).epochMilliseconds / 1000
  )
}

/** Releases a subscription from its schedule. */
function release(ctx: Context, schedule: SubscriptionSchedule, cause: Cause): void {
  const before = structuredClone(schedule)
  const subscription = ctx.store.subscriptions.get(idOf(schedule.subscription))
  schedule.status = 'released'
  schedule.released_at = ctx.clock.seconds()
  schedule.released_subscription = subscription?.id ?? null
  schedule.subscription = null
  schedule.current_phase = null
  emitChange(ctx, 'subscription_schedule.released', before, schedule, cause)
  if (subscription === undefined) return
  const was = structuredClone(subscription)
  subscription.schedule = null
  emitChange(ctx, 'customer.subscription.updated', was, subscription, cause)
}

/** If a period ends with a phase, the next phase's prices apply from then on, in a new billing cycle. */
export function enterPhase(ctx: Context, subscription: Subscription, end: number): void {
  const schedule = ctx.store.subscriptionSchedules.get(idOf(subscription.schedule))
  if (schedule?.status !== 'active' || schedule.current_phase?.end_date !== end) return
  const next = schedule.phases.find((phase) => phase.start_date === end)
  const planned = next?.items[0]
  const price = ctx.store.prices.get(idOf(planned?.price))
  const [item] = subscription.items.data
  if (next !== undefined && price !== undefined && item !== undefined && price.id !== item.price.id) {
    item.price = price
    item.plan = planOf(price)
    item.quantity = planned?.quantity ?? 1
    subscription.billing_cycle_anchor = end
    item.current_period_end = end
  }
  const isLast = next === undefined || !schedule.phases.some((phase) => phase.start_date === next.end_date)
  if (isLast) release(ctx, schedule, noRequest)
  else schedule.current_phase = { start_date: next.start_date, end_date: next.end_date }
  ctx.store.save(schedule)
}

/** The price of a renewal at `end`. */
export function priceFrom(ctx: Context, subscription: Subscription, end: number): Price | undefined {
  const schedule = ctx.store.subscriptionSchedules.get(idOf(subscription.schedule))
  if (schedule?.status !== 'active') return undefined
  const next = schedule.phases.find((phase) => phase.start_date === end)
  return ctx.store.prices.get(idOf(next?.items[0]?.price))
}

/** Whether a schedule determines a subscription's end. */
export function rejectScheduled(subscription: Subscription): void {
  if (subscription.schedule === null) return
  throw invalidRequest(
    `The subscription is managed by the subscription schedule \`${idOf(subscription.schedule)}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
  )
}

function existing({ store }: Context, id: string): SubscriptionSchedule {
  return existingIn(store.subscriptionSchedules, id, 'subscription_schedule', 'schedule')
}

function running(ctx: Context, id: string): SubscriptionSchedule {
  const schedule = existing(ctx, id)
  if (schedule.status === 'active') return schedule
  throw invalidRequest(
    `You cannot change a subscription schedule that is currently in the \`${schedule.status}\` status. It must be \`not_started\` or \`active\`.`,
  )
}

export const subscriptionScheduleRoutes: Routes = (route) => {
  route(
    post(
      '/v1/subscription_schedules',
      {
        ...expandParam,
        customer: notSimulated(),
        end_behavior: notSimulated('release'),
        from_subscription: string(),
        metadata: notSimulated(),
        phases: notSimulated(),
        start_date: notSimulated(),
      },
      (ctx, { from_subscription: id }, _path, cause) => {
        const subscription = ctx.store.subscriptions.get(id)
        if (subscription === undefined) throw noSuchReference('subscription', id, 'from_subscription')
        if (endedStatuses.includes(subscription.status)) {
          throw invalidRequest('You cannot migrate a subscription that is canceled.', { param: 'from_subscription' })
        }
        if (subscription.schedule !== null) {
          throw invalidRequest(
            'You cannot migrate a subscription that is already attached to a schedule: `' +
              idOf(subscription.schedule) +
              '`.',
            { param: 'from_subscription' },
          )
        }
        const schedule = scheduleFrom(ctx, subscription)
        ctx.store.subscriptionSchedules.set(schedule.id, schedule)
        const before = structuredClone(subscription)
        subscription.schedule = schedule.id
        emit(ctx, 'subscription_schedule.created', schedule, cause)
        emitChange(ctx, 'customer.subscription.updated', before, subscription, cause)
        return schedule
      },
    ),
  )

  route(get('/v1/subscription_schedules/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post('/v1/subscription_schedules/:id', updateParams, (ctx, params, { id }, cause) => {
      const schedule = running(ctx, id)
      const before = structuredClone(schedule)
      schedule.metadata = mergeMetadata(schedule.metadata ?? {}, params.metadata)
      if (params.phases !== undefined) schedule.phases = phasesOf(ctx, schedule, params.phases)
      const now = ctx.clock.seconds()
      const current = schedule.phases.find((phase) => phase.start_date <= now && now < phase.end_date)
      schedule.current_phase = current ? { start_date: current.start_date, end_date: current.end_date } : null
      emitChange(ctx, 'subscription_schedule.updated', before, schedule, cause)
      return schedule
    }),
  )

  route(
    post(
      '/v1/subscription_schedules/:id/release',
      { ...expandParam, preserve_cancel_date: notSimulated() },
      (ctx, _params, { id }, cause) => {
        const schedule = running(ctx, id)
        release(ctx, schedule, cause)
        return schedule
      },
    ),
  )
}
