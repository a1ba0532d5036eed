import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { memberSeats, registrations, waivers } from '../schema.ts'
import { readSignedPdf } from './sign-waiver.ts'

/**
 * Returns the signed PDF of an account's own registration or membership.
 * @throws DomainError `not_found` also for that of somebody else, or `signed_pdf_not_ready`
 */
export async function readOwnSignedPdf(
  userId: string,
  waiverId: string,
  context: Context<Config>,
): Promise<Uint8Array> {
  const { db } = context
  const [found] = await db
    .select({ registrationOwnerId: registrations.ownerId, seat: memberSeats })
    .from(waivers)
    .leftJoin(registrations, eq(registrations.id, waivers.registrationId))
    .leftJoin(memberSeats, eq(memberSeats.attemptId, waivers.membershipId))
    .where(eq(waivers.id, waiverId))
  const ownerId = found?.seat ? (await ownershipOfSeat(db, found.seat)).ownerId : found?.registrationOwnerId
  if (ownerId !== userId) throw new DomainError('not_found', 'There is no such waiver.')
  return readSignedPdf(waiverId, context)
}
