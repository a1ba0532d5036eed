import type { Registration } from '@robokids/contracts/enrollment'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { releaseSeats } from '../registrations/end-hold.ts'
import { lockRegistration } from '../registrations/lock-registration.ts'
import { readRegistration, registrationNotFound } from '../registrations/read-registrations.ts'
import { checkEndable } from '../rules.ts'

/**
 * Releases the seats that an account holds unpaid. Does nothing if the hold has ended already. Its payment page must be closed.
 * @throws DomainError `registration_not_found` also for that of somebody else, `registration_closed` if it is paid or closed
 */
export async function releaseOwnSeats(userId: string, id: string, context: Context<Config>): Promise<Registration> {
  return context.db.transaction(async (tx) => {
    const locked = await lockRegistration(tx, id)
    if (locked?.registration.ownerId !== userId) throw registrationNotFound()
    checkEndable(locked.registration.status)
    await releaseSeats(tx, [locked.registration], context.clock.now())
    return readRegistration(tx, id)
  })
}
