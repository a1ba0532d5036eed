import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { adminRegistrationsSchema } from '@robokids/contracts/bff'
import { checkoutsSchema, type Checkout } from '@robokids/contracts/billing'
import { registrationPageSchema } from '@robokids/contracts/enrollment'
import { stringify } from 'csv-stringify'
import type { z } from 'zod'
import type { Services } from '../upstream.ts'

export type AdminRegistrations = z.infer<typeof adminRegistrationsSchema>

/** A page of registrations, newest first, each with its payment and refunds. */
export async function adminRegistrationsView(
  services: Services,
  query: URLSearchParams,
  adminSecret: string,
): Promise<AdminRegistrations> {
  const headers = { 'x-admin-secret': adminSecret }
  const page = await services.enrollment.call('GET', `/registrations?${query.toString()}`, {
    answer: registrationPageSchema,
    headers,
  })
  const ids = page.registrations.map((registration) => registration.registrationId)
  const { checkouts } =
    ids.length === 0
      ? { checkouts: [] }
      : await services.billing.call('GET', `/checkouts?registrationIds=${ids.join(',')}`, {
          answer: checkoutsSchema,
          headers,
        })
  const byRegistration = new Map<string, Checkout>(checkouts.map((checkout) => [checkout.registrationId, checkout]))
  return {
    nextCursor: page.nextCursor,
    registrations: page.registrations.map((registration) => {
      const checkout = byRegistration.get(registration.registrationId)
      return {
        ...registration,
        attemptId: checkout?.attemptId ?? null,
        stripePaymentIntentId: checkout?.payment?.stripePaymentIntentId ?? null,
        refunds: checkout?.refunds ?? [],
      }
    }),
  }
}

function rowOf(registration: AdminRegistrations['registrations'][number]) {
  return {
    registrationId: registration.registrationId,
    status: registration.status,
    classType: registration.classType,
    startDate: registration.startDate,
    startTime: registration.startTime,
    guardianName: registration.guardianName,
    email: registration.email,
    children: registration.children.map((child) => `${child.childName} (${child.childAge})`).join('; '),
    ...registration.address,
    amountCents: registration.payment?.amount ?? '',
    receiptNumber: registration.payment?.receiptNumber ?? '',
    paymentState: registration.payment?.state ?? '',
    paymentIntent: registration.stripePaymentIntentId ?? '',
    refundedCents: registration.refunds
      .filter((refund) => refund.status === 'succeeded')
      .reduce((sum, refund) => sum + refund.amount, 0),
    waiverSignedAt: registration.waiver?.signedAt ?? '',
    kit: registration.kit?.status ?? '',
    createdAt: registration.createdAt,
  }
}

const columns = [
  'registrationId',
  'status',
  'classType',
  'startDate',
  'startTime',
  'guardianName',
  'email',
  'children',
  'addressLine1',
  'addressLine2',
  'city',
  'state',
  'zipCode',
  'amountCents',
  'receiptNumber',
  'paymentState',
  'paymentIntent',
  'refundedCents',
  'waiverSignedAt',
  'kit',
  'createdAt',
] satisfies (keyof ReturnType<typeof rowOf>)[]

/**
 * All pages as one CSV (RFC 4180), in UTF-8 with a byte-order mark for Excel. Cells that a spreadsheet would execute as a formula
 * are escaped.
 */
export function registrationsCsv(pages: AsyncIterable<AdminRegistrations>): Readable {
  const rows = async function* () {
    for await (const { registrations } of pages) yield* registrations.map(rowOf)
  }
  const csv = stringify({ bom: true, header: true, columns, record_delimiter: 'windows', escape_formulas: true })
  // Aborts the response if a page cannot be fetched: a partial list must not look complete.
  pipeline(rows, csv).catch((error: unknown) => csv.destroy(error as Error))
  return csv
}
