import { kitReady, type signWaiverSchema, type Waiver } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { Database } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { padResponseTime } from '@robokids/runtime/response-time'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { asc, eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Config } from '../config.ts'
import { lockRegistration } from '../registrations/lock-registration.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import { factsOf, type RegistrationRow } from '../registrations/read-registrations.ts'
import { toWaiver, newSignature, recordSignature } from './record-signature.ts'
import {
  chooseSignable,
  findSignable,
  isVisibleTo,
  checkSignature,
  registrationNotDisclosed,
  paymentProblem,
} from '../rules.ts'
import { kitShipments, registrations, waivers } from '../schema.ts'
import { notifyFamilies } from '../registrations/notify-families.ts'
import { signableDocuments } from './waiver-document.ts'

type Request = z.infer<typeof signWaiverSchema> & { email: string }

/** The signer's registrations with their signatures, oldest first. */
async function candidatesOf(db: Database, request: Request) {
  const rows = await db
    .select({
      registration: registrations,
      waiver: {
        id: waivers.id,
        guardianName: waivers.guardianName,
        documentSha256: waivers.documentSha256,
        signedAt: waivers.signedAt,
      },
    })
    .from(registrations)
    .leftJoin(waivers, eq(waivers.registrationId, registrations.id))
    .where(
      request.registrationId === undefined
        ? eq(registrations.emailKey, emailKey(request.email))
        : eq(registrations.id, request.registrationId),
    )
    .orderBy(asc(registrations.createdAt), asc(registrations.id))
  const states = await readPaymentStates(
    db,
    rows.map(({ registration }) => registration),
  )
  return rows.map(({ registration, waiver }) => ({
    ...registration,
    registrationId: registration.id,
    email: addressFor(registration, request),
    paymentState: states.get(registration.id) ?? 'paid',
    waiver,
  }))
}

/** A page that was loaded before its account's email changed still sends the old email with the registration's id. */
function addressFor({ email, askedEmail }: Pick<RegistrationRow, 'email' | 'askedEmail'>, request: Request): string {
  if (request.registrationId === undefined || askedEmail === null) return email
  return emailKey(askedEmail) === emailKey(request.email) ? askedEmail : email
}

/** Longer than it takes to find a registration and to notify its family. */
const responseTimeStepMs = 100

/**
 * Finds the registration to sign for. Without its reference, only those of the requester's account or browser count; if it is
 * somebody else's, its family is notified, and the requester gets the response for no match, after the same time.
 * @throws DomainError `registration_not_found`, `registration_not_paid`
 */
async function chooseRegistration({ db }: Context<Config>, request: Request) {
  if (request.registrationId !== undefined) return chooseSignable(await candidatesOf(db, request), request)
  return padResponseTime(responseTimeStepMs, () => chooseByDetails(db, request))
}

async function chooseByDetails(db: Database, request: Request) {
  const candidates = await candidatesOf(db, request)
  const { ownerId = null, browserId = null } = request
  const { own = [], others = [] } = Object.groupBy(candidates, (candidate) =>
    isVisibleTo({ ownerId, browserId }, candidate) ? 'own' : 'others',
  )
  const chosen = findSignable(own, request)
  if (chosen) return chosen
  const hidden = findSignable(others, request)
  if (hidden) await db.transaction((tx) => notifyFamilies(tx, [hidden], 'waiver'))
  throw registrationNotDisclosed()
}

/**
 * Records a signature with its evidence, once, which makes the kit ready. Its PDF is made afterwards, and mailed to the
 * registration's email. Repeating the same signature returns the same.
 * @throws DomainError `registration_not_found`, `registration_not_paid`, `waiver_already_signed`, `waiver_document_changed`
 */
export async function signWaiver(
  { email = '', ...rest }: z.infer<typeof signWaiverSchema>,
  context: Context<Config>,
): Promise<Waiver> {
  const request = { ...rest, email }
  const registration = await chooseRegistration(context, request)
  const { registrationId, waiver } = registration
  if (checkSignature(registration, request, signableDocuments()) === 'repeat' && waiver) {
    return toWaiver(registrationId, waiver)
  }

  const signature = newSignature(registration.guardianName, request, context.clock.now())
  const { signedAt } = signature
  const signed = await context.db.transaction(async (tx) => {
    const locked = await lockRegistration(tx, registrationId)
    if (locked?.registration.status !== 'confirmed') return false
    const states = await readPaymentStates(tx, [locked.registration])
    if (paymentProblem(states.get(registrationId) ?? 'paid') !== undefined) return false
    const signed = factsOf(locked.registration)
    if (!(await recordSignature(tx, signature, { registrationId, signed }))) return false
    await tx
      .update(registrations)
      .set({ status: 'waiver_signed', updatedAt: signedAt })
      .where(eq(registrations.id, registrationId))
    await tx.insert(kitShipments).values({ registrationId, readyAt: signedAt })
    await publish(tx, kitReady, registrationId, signed)
    return true
  })
  // Signed (or refunded) by another request in the meantime: checked again, for this registration.
  if (!signed) return signWaiver({ ...request, registrationId }, context)
  return toWaiver(registrationId, signature)
}

/** Returns the signed PDF. @throws DomainError `not_found`, or `signed_pdf_not_ready` if it is not made yet */
export async function readSignedPdf(waiverId: string, context: Context<Config>): Promise<Uint8Array> {
  const [waiver] = await context.db
    .select({ signedPdf: waivers.signedPdf })
    .from(waivers)
    .where(eq(waivers.id, waiverId))
  if (!waiver) throw new DomainError('not_found', 'There is no such waiver.')
  if (!waiver.signedPdf) {
    throw new DomainError('signed_pdf_not_ready', 'The signed waiver is being made. Please try again in a moment.')
  }
  return waiver.signedPdf
}
