import type { Choice } from '@robokids/contracts/class-cancellation'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq } from 'drizzle-orm'
import { findPendingMoves, isAbout } from '../changes/end-moves.ts'
import { presentChange } from '../changes/write-change.ts'
import { classFacts } from '../changes/read-changeable.ts'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { readChoice } from '../places/read-choices.ts'
import { readRegistration } from '../registrations/read-registrations.ts'
import { changes } from '../schema.ts'

/** A family's choice, for anyone who has its link. @throws DomainError `choice_not_found` */
export async function presentChoice(id: string, { db, clock }: Context<Config>): Promise<Choice> {
  return db.transaction(async (tx) => {
    const choice = await readChoice(tx, id)
    if (!choice) throw new DomainError('choice_not_found', 'There is no such choice.')
    const { registrationId, classSessionId, placeIds, chooseUntil } = choice
    const { guardianName, places = [] } = await readRegistration(tx, registrationId)
    const own = places.filter(({ placeId }) => placeIds.includes(placeId))
    const [pending] = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, placeIds))
    const made = await tx
      .select()
      .from(changes)
      .where(and(eq(changes.registrationId, registrationId), eq(changes.status, 'done')))
    const chosen = made.filter(({ quote }) => quote.school?.choiceId === id)
    const isSeated = own.some(({ status }) => status === 'seated')
    return {
      choiceId: id,
      registrationId,
      guardianName,
      from: await classFacts(tx, classSessionId),
      chooseUntil: isoTime(chooseUntil),
      isOpen: isSeated && Temporal.Instant.compare(clock.now(), chooseUntil) < 0,
      places: own,
      back: own.find(({ classCancelled }) => classCancelled)?.classCancelled?.back ?? 0,
      sent: chosen.reduce((sum, { quote }) => sum + quote.back, 0),
      pending: pending ? presentChange(pending) : null,
    }
  })
}
