import {
  createMembershipCheckoutSchema,
  findMembershipSchema,
  foundMembershipSchema,
  membershipCheckoutSchema,
  membershipOutcomeSchema,
  membershipPlansSchema,
  membershipSchema,
  portalSchema,
  refreshQuerySchema,
  switchBodySchema,
  switchMembershipSchema,
  switchQuoteSchema,
} from '@robokids/contracts/billing'
import { uuid } from '@robokids/contracts/fields'
import type { Http } from '@robokids/runtime/http'
import { z } from 'zod'
import { cancelMembership } from './cancel-membership.ts'
import { openPortal } from './open-portal.ts'
import { quoteSwitch, switchMembership } from './switch-plan.ts'
import { resumeMembership } from './resume-membership.ts'
import type { BillingContext } from '../config.ts'
import { createMembershipCheckout } from './create-membership-checkout.ts'
import { findMemberships, presentMembership } from './read-memberships.ts'
import { readOutcome } from './read-outcome.ts'
import { readPlans } from './read-plans.ts'
import { refreshAttempts, refreshNames } from '../attempts/refresh-attempts.ts'
import { membershipAttempts } from '../schema.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import { eq } from 'drizzle-orm'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'

const byId = z.object({ id: uuid('This is not the id of a membership.') })

export async function membershipRoutes(http: Http, context: BillingContext): Promise<void> {
  const { db, clock } = context

  http.get('/membership-plans', { schema: { response: { 200: membershipPlansSchema } } }, () =>
    readPlans(db, clock.now()),
  )

  http.post(
    '/membership-checkouts',
    { schema: { body: createMembershipCheckoutSchema, response: { 200: membershipCheckoutSchema } } },
    (request, reply) => createMembershipCheckout(context, request.body, abortOnDisconnect(reply)),
  )

  http.get(
    '/membership-checkouts/:id',
    { schema: { params: byId, response: { 200: membershipOutcomeSchema } } },
    (request) => readOutcome(db, request.params.id),
  )

  for (const name of refreshNames)
    http.post(
      `/membership-checkouts/:id/${name}`,
      { schema: { params: byId, querystring: refreshQuerySchema, response: { 200: membershipOutcomeSchema } } },
      async ({ params: { id }, query }) => {
        await refreshAttempts(context, membershipAttemptKind, eq(membershipAttempts.id, id), query.returned)
        return readOutcome(db, id)
      },
    )

  http.post(
    '/memberships/find',
    { schema: { body: findMembershipSchema, response: { 200: foundMembershipSchema } } },
    async (request) => {
      const { membership, others } = await findMemberships(context, request.body)
      return {
        membership: membership ? await presentMembership(db, membership) : null,
        others: await Promise.all(others.map((other) => presentMembership(db, other))),
      }
    },
  )

  http.post('/memberships/:id/cancel', { schema: { params: byId, response: { 200: membershipSchema } } }, (request) =>
    cancelMembership(context, request.params.id),
  )

  http.post('/memberships/:id/resume', { schema: { params: byId, response: { 200: membershipSchema } } }, (request) =>
    resumeMembership(context, request.params.id),
  )

  http.post(
    '/memberships/:id/quote',
    { schema: { params: byId, body: switchBodySchema, response: { 200: switchQuoteSchema } } },
    (request) => quoteSwitch(context, request.params.id, request.body.plan),
  )

  http.post(
    '/memberships/:id/switch',
    { schema: { params: byId, body: switchMembershipSchema, response: { 200: membershipSchema } } },
    (request) => switchMembership(context, request.params.id, request.body),
  )

  http.post('/memberships/:id/portal', { schema: { params: byId, response: { 200: portalSchema } } }, (request) =>
    openPortal(context, request.params.id),
  )
}
