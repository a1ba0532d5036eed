import { existingIn, invalidRequest } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { expandParam, integer, listParams, optional, string } from '../protocol/params.ts'
import type { TestClock } from '../protocol/types.ts'
/** Stripe's test clocks: their customers use its time, which is advanced by requests. */
import type { Context } from '../resources/context.ts'
import { del, get, post, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'
import { endSubscriptionsOf } from '../subscriptions/end-subscription.ts'
import { emit } from '../webhooks/events.ts'
import { walk } from './due.ts'

const day = 24 * 3600
const retentionDays = 30
/** Stripe allows two intervals of a subscription at a time, two years at most; here two years for all. */
const furthest = 2 * 366 * day

function existing({ store }: Context, id: string): TestClock {
  return existingIn(store.testClocks, id, 'test clock', 'test_clock')
}

export const testClockRoutes: Routes = (route) => {
  route(
    post(
      '/v1/test_helpers/test_clocks',
      { ...expandParam, frozen_time: integer(0), name: optional(string(300)) },
      (ctx, params, _path, cause) => {
        const now = ctx.clock.seconds()
        const clock: TestClock = {
          id: newId('clock_1'),
          object: 'test_helpers.test_clock',
          created: now,
          deletes_after: now + retentionDays * day,
          frozen_time: params.frozen_time,
          livemode: false,
          name: params.name ?? null,
          status: 'ready',
          status_details: {},
        }
        ctx.store.testClocks.set(clock.id, clock)
        emit(ctx, 'test_helpers.test_clock.created', clock, cause)
        return clock
      },
    ),
  )

  route(
    get('/v1/test_helpers/test_clocks', listParams, (ctx, paging) =>
      page(newestFirst(ctx.store.testClocks), paging, '/v1/test_helpers/test_clocks', 'test clock'),
    ),
  )

  route(get('/v1/test_helpers/test_clocks/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id)))

  route(
    post(
      '/v1/test_helpers/test_clocks/:id/advance',
      { ...expandParam, frozen_time: integer(0) },
      (ctx, params, { id }, cause) => {
        const clock = existing(ctx, id)
        const { frozen_time: target } = params
        if (target <= clock.frozen_time) {
          throw invalidRequest('The frozen time must be after the current frozen time of the test clock.', {
            param: 'frozen_time',
          })
        }
        if (target > clock.frozen_time + furthest) {
          throw invalidRequest('Cannot advance the test clock by more than two years at a time.', {
            param: 'frozen_time',
          })
        }
        clock.status = 'advancing'
        clock.status_details = { advancing: { target_frozen_time: target } }
        emit(ctx, 'test_helpers.test_clock.advancing', clock, cause)
        const answer = structuredClone(clock)
        walk(ctx, id, target, (at) => {
          clock.frozen_time = at
        })
        clock.frozen_time = target
        clock.status = 'ready'
        clock.status_details = {}
        emit(ctx, 'test_helpers.test_clock.ready', clock, cause)
        // It is done already, but responds as Stripe does: callers have to poll until it is ready.
        return answer
      },
    ),
  )

  route(
    del('/v1/test_helpers/test_clocks/:id', expandParam, (ctx, _params, { id }, cause) => {
      const clock = existing(ctx, id)
      for (const [customer, record] of ctx.store.customers) {
        if (record.deleted || record.object.test_clock !== id) continue
        ctx.clock.at(clock.frozen_time, () => endSubscriptionsOf(ctx, customer, cause))
        record.deleted = true
        ctx.store.customers.save(customer)
      }
      ctx.store.testClocks.delete(id)
      emit(ctx, 'test_helpers.test_clock.deleted', clock, cause)
      return { id, object: 'test_helpers.test_clock', deleted: true }
    }),
  )
}
