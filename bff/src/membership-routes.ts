import {
  accountHeader,
  emptyResponseSchema,
  membershipCheckoutResponseSchema,
  membershipCheckoutBodySchema,
} from '@robokids/contracts/auth'
import {
  foundMembershipSchema,
  membershipCheckoutSchema,
  membershipOutcomeSchema,
  membershipSchema,
  ownMembershipBodySchema,
  portalSchema,
  refreshQuerySchema,
  switchBodySchema,
  switchMembershipSchema,
  switchQuoteSchema,
  type FoundMembership,
} from '@robokids/contracts/billing'
import { memberHoldSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { blockOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import type { MailLimits } from './mail-limits.ts'
import { paymentLink } from './payment-pages.ts'
import type { Proofs } from './proofs.ts'
import { refreshCheckout } from './refresh-checkout.ts'
import { referenceParams, type References } from './references.ts'
import type { Services } from './upstream.ts'

/** The membership's checkout, and its management by the member. */
export function membershipRoutes(
  http: Http,
  { config: { SITE_URL } }: Context<Config>,
  { enrollment, billing }: Services,
  { sessions, proofs, mailLimits }: Pick<Accounts, 'sessions'> & { proofs: Proofs; mailLimits: MailLimits },
  references: References,
): void {
  const linkTo = (id: string, pageUrl: string) => paymentLink(SITE_URL, 'membership-checkouts', id, pageUrl)

  /** The memberships of the signed-in account and of its verified email. */
  async function find(request: FastifyRequest, reply: FastifyReply): Promise<FoundMembership> {
    const signInSession = await sessions.require(request, reply)
    const { verifiedEmail: email } = await sessions.addressesOf(signInSession, request, reply)
    const body = { userId: signInSession.userId, email }
    return billing.call('POST', '/memberships/find', { body, answer: foundMembershipSchema })
  }

  /**
   * @param membershipId one of the account's own; default: the first one.
   * @throws DomainError sign_in_required, membership_not_found
   */
  async function own(request: FastifyRequest, reply: FastifyReply, membershipId?: string): Promise<string> {
    const { membership, others = [] } = await find(request, reply)
    const found =
      membershipId === undefined
        ? membership
        : [membership, ...others].find((one) => one?.membershipId === membershipId)
    if (!found) throw new DomainError('membership_not_found', 'Your account has no membership.')
    return `/memberships/${found.membershipId}`
  }

  http.post(
    '/api/createStripeSession',
    {
      schema: { body: membershipCheckoutBodySchema, response: { 200: membershipCheckoutResponseSchema } },
      preHandler: proofs.required('membership'),
    },
    async (request, reply) => {
      const { email, classDate, consent, plan, agreed, familyTimeZone } = request.body
      // Otherwise it would be sold without the account that its page was composed for.
      const { ownerId, isOver } = await sessions.ownerOf(request, reply)
      const isComposedForSomebody = request.headers[accountHeader] !== undefined
      if (isOver || (isComposedForSomebody && ownerId === null)) {
        throw new DomainError('sign_in_required', 'Please log in.')
      }
      const { requester } = await sessions.requesterOf(request, reply)
      const hold = (attemptId?: string) =>
        enrollment.call('POST', '/member-seats', {
          body: { email, classDate, attemptId, ...requester, network: blockOf(request.ip) },
          answer: memberHoldSchema,
        })
      const evidence = { ipAddress: request.ip, userAgent: (request.headers['user-agent'] ?? '').slice(0, 1000) }
      const body = {
        email,
        plan,
        classDate,
        agreed,
        familyTimeZone,
        ...(consent ? { consent: { ...consent, ...evidence } } : {}),
        ...requester,
      }
      // Rejects a date that is full or not open before anything can be paid.
      await hold()
      try {
        const checkout = await billing.call('POST', '/membership-checkouts', { body, answer: membershipCheckoutSchema })
        // Binds the hold to the checkout, whose end releases it.
        await hold(checkout.attemptId)
        return { url: linkTo(checkout.attemptId, checkout.checkoutUrl) }
      } catch (error) {
        // Releases the seat of this request; if that fails, the hold expires by itself.
        await enrollment
          .call('POST', '/member-seats/release', { body: { email, ...requester }, answer: emptyResponseSchema })
          .catch((problem: unknown) => request.log.warn({ err: problem }, 'could not release a member’s seat'))
        if (!(error instanceof DomainError) || error.code !== 'already_member') throw error
        const url = await portalOf(request, reply)
        if (url === undefined) throw error
        return { url, message: 'You’re already a member. Here are your card and your invoices.' }
      }
    },
  )

  /** The portal link of the signed-in member, whatever email they gave. Nobody else gets a link to a member's card. */
  async function portalOf(request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
    if (!(await sessions.find(request, reply))) return undefined
    const { membership } = await find(request, reply)
    if (!membership || membership.status === 'ended') return undefined
    return (await billing.call('POST', `/memberships/${membership.membershipId}/portal`, { answer: portalSchema })).url
  }

  http.get(
    '/api/membership-checkouts/:reference',
    {
      schema: { params: referenceParams, querystring: refreshQuerySchema, response: { 200: membershipOutcomeSchema } },
    },
    (request) =>
      references.find(request, request.params.reference, 'payment', async (id) => {
        const call = { answer: membershipOutcomeSchema, signal: request.signal }
        const outcome = await refreshCheckout(billing, `/membership-checkouts/${id}`, request.query.returned, call)
        return { ...outcome, checkoutUrl: outcome.checkoutUrl && linkTo(id, outcome.checkoutUrl) }
      }),
  )

  http.get(
    '/api/membership',
    { onRequest: sessions.required, schema: { response: { 200: foundMembershipSchema } } },
    find,
  )

  // Each calls the provider several times, and some send a mail to an unverified email.
  const ofMember = { onRequest: sessions.required, preHandler: mailLimits.ofAccount }

  for (const change of ['cancel', 'resume'] as const) {
    http.post(
      `/api/membership/${change}`,
      { ...ofMember, schema: { body: ownMembershipBodySchema, response: { 200: membershipSchema } } },
      async (request, reply) => {
        const path = await own(request, reply, request.body?.membershipId)
        return billing.call('POST', `${path}/${change}`, { answer: membershipSchema })
      },
    )
  }

  http.post(
    '/api/membership/quote',
    { ...ofMember, schema: { body: switchBodySchema, response: { 200: switchQuoteSchema } } },
    async (request, reply) =>
      billing.call('POST', `${await own(request, reply)}/quote`, { body: request.body, answer: switchQuoteSchema }),
  )

  http.post(
    '/api/membership/switch',
    { ...ofMember, schema: { body: switchMembershipSchema, response: { 200: membershipSchema } } },
    async (request, reply) =>
      billing.call('POST', `${await own(request, reply)}/switch`, { body: request.body, answer: membershipSchema }),
  )

  http.post(
    '/api/membership/portal',
    { ...ofMember, schema: { response: { 200: portalSchema } } },
    async (request, reply) => billing.call('POST', `${await own(request, reply)}/portal`, { answer: portalSchema }),
  )
}
