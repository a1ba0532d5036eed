import { checkoutSchema, membershipOutcomeSchema } from '@robokids/contracts/billing'
import { openedMemberSeatSchema, registrationSchema, type OpenPage } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { References } from './references.ts'
import { isUnknownRoute, type Services } from './upstream.ts'

/** What a payment page is called: the last part of its address, which is the id of the provider's session. */
const nameOf = (pageUrl: string) => new URL(pageUrl).pathname.split('/').at(-1) ?? ''

/**
 * The address that is given out for a payment page that a seat depends on. It leads by the BFF, which has the seat held for
 * as long as the page is open before it leads on. It names the page, since what was agreed to stands on that one alone.
 */
export function paymentLink(
  siteUrl: string,
  of: 'registrations' | 'membership-checkouts',
  id: string,
  pageUrl: string,
) {
  return `${siteUrl}/api/${of}/${id}/pay/${nameOf(pageUrl)}`
}

const pageParams = z.object({ reference: z.string(), page: z.string() })

/**
 * Leads to payment pages. First the seat is held, then the browser is led on: should either fail, or the process be killed in
 * between, a seat is held for a page that nobody opened, and never the other way round. Where the seat was let go, or the
 * page is another one by now, the visitor comes to where it can be taken again.
 */
export function paymentPageRoutes(
  http: Http,
  { config }: Context<Config>,
  { enrollment, billing }: Services,
  references: References,
): void {
  const { SITE_URL } = config

  const pages = [
    {
      of: 'registrations',
      kind: 'registration',
      back: (reference: string) => `${SITE_URL}/robokids-payment?reference=${encodeURIComponent(reference)}`,
      find: async (id: string) => {
        const { checkoutUrl, attemptId, createdAt, expiresAt } = await billing.call('GET', `/checkouts/${id}`, {
          answer: checkoutSchema,
        })
        // A billing of the version before does not tell when.
        const page = createdAt === undefined ? {} : { body: { attemptId, createdAt, expiresAt } satisfies OpenPage }
        const open = () => enrollment.call('POST', `/registrations/${id}/open`, { ...page, answer: registrationSchema })
        return { checkoutUrl, open }
      },
    },
    {
      of: 'membership-checkouts',
      kind: 'payment',
      back: () => `${SITE_URL}/membership/register`,
      find: async (id: string) => {
        const { checkoutUrl, expiresAt } = await billing.call('GET', `/membership-checkouts/${id}`, {
          answer: membershipOutcomeSchema,
        })
        const open = () =>
          enrollment.call('POST', `/member-seats/${id}/open`, { body: { expiresAt }, answer: openedMemberSeatSchema })
        return { checkoutUrl, open }
      },
    },
  ] as const
  for (const { of, kind, back, find } of pages) {
    http.get(`/api/${of}/:reference/pay/:page`, { schema: { params: pageParams } }, async (request, reply) => {
      const { reference, page } = request.params
      try {
        const url = await references.find(request, reference, kind, async (id) => {
          const { checkoutUrl, open } = await find(id)
          if (checkoutUrl === null || nameOf(checkoutUrl) !== page) return back(reference)
          await open().catch((error: unknown) => {
            // An enrollment of the version before has held it for that long already.
            if (!isUnknownRoute(error)) throw error
          })
          return checkoutUrl
        })
        return await reply.redirect(url, 303)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        request.log.info({ code: error.code, route: request.routeOptions.url }, 'a payment page was not opened')
        return reply.redirect(back(reference), 303)
      }
    })
  }
}
