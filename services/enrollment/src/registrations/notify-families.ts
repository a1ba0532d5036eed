import { registrationAskedAgain } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publishAll } from '@robokids/runtime/outbox'
import { factsOf, type RegistrationRow } from './read-registrations.ts'

/**
 * Publishes that a stranger has requested what these families already have. Unpaid registrations are skipped, because their
 * email is unverified.
 */
export async function notifyFamilies(
  tx: Transaction,
  rows: RegistrationRow[],
  askedFor: 'seat' | 'waiver',
): Promise<void> {
  const paid = rows.filter(({ status }) => status === 'confirmed' || status === 'waiver_signed')
  await publishAll(
    tx,
    registrationAskedAgain,
    paid.map((row) => ({
      subject: row.id,
      data: { ...factsOf(row), askedFor, isSigned: row.status === 'waiver_signed' },
    })),
  )
}
