import { checkoutSchema, membershipOutcomeSchema } from '@robokids/contracts/billing'
import { openedMemberSeatSchema, registrationSchema, type OpenPage } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { References } from './references.ts'
import { isUnknownRoute, type Services } from './upstream.ts'

/** The id of a payment page: the last part of its URL, which is the provider's session id. */
const pageIdOf = (pageUrl: string) => new URL(pageUrl).pathname.split('/').at(-1) ?? ''

/**
 * The public link to a payment page for held seats. It goes through the BFF, which extends the hold for the page's lifetime and
 * then redirects. It names the page, because the agreed price is only on that one.
 */
export function paymentLink(
  siteUrl: string,
  of: 'registrations' | 'membership-checkouts',
  id: string,
  pageUrl: string,
) {
  return `${siteUrl}/api/${of}/${id}/pay/${pageIdOf(pageUrl)}`
}

const pageParams = z.object({ reference: z.string(), page: z.string() })

/**
 * Redirects to payment pages. The hold is extended before the redirect: if either fails, or the process is killed in between, a
 * seat is held for a page that nobody opened, but never the reverse. If the seat was released, or there is another page by now,
 * it redirects to where the seat can be taken again.
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
        // A billing of the previous version does not send `createdAt`.
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
          if (checkoutUrl === null || pageIdOf(checkoutUrl) !== page) return back(reference)
          await open().catch((error: unknown) => {
            // An enrollment of the previous version holds it that long from the start.
            if (!isUnknownRoute(error)) throw error
          })
          return checkoutUrl
        })
        return await reply.redirect(url, 303)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        request.log.info({ code: error.code, route: request.routeOptions.url }, 'could not open a payment page')
        return reply.redirect(back(reference), 303)
      }
    })
  }
}
