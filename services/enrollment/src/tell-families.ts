import { registrationAskedAgain } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publishAll } from '@robokids/runtime/outbox'
import { factsOf, type RegistrationRow } from './read-registrations.ts'

/**
 * Tells the families of registrations that a stranger has asked for what they have. Of what is not paid nobody is told: its
 * address may be anybody's.
 */
export async function tellFamilies(
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
