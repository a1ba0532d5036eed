import { reconciliationSchema } from '@robokids/contracts/billing'
import { owningServices } from '@robokids/local/services'
import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

/** Every event was handled. */
export async function noDeadLetters(walk: Walk): Promise<void> {
  for (const service of owningServices) {
    const rows = await walk.world.system.sql(service)<{ handler: string; error: string }[]>`
      select handler, error from dead_letters where replayed_at is null and failed_at >= ${walk.begunAt}`
    const [first] = rows
    if (first) throw new Violation('no event is a dead letter', `${first.handler}: ${first.error.slice(0, 500)}`)
  }
}

/** The ledger agrees with the provider to the cent. */
export async function ledgerAgrees(walk: Walk): Promise<void> {
  const { status, body } = await walk.world.operate('billing', 'POST', `/admin/reconcile?since=${walk.bookedFrom}`)
  if (status !== 200) throw new Violation('the ledger agrees with the provider', JSON.stringify(body))
  const { difference, disagreements, unexplained } = reconciliationSchema.parse(body)
  if (difference !== 0 || disagreements.length > 0 || unexplained.length > 0)
    throw new Violation(
      'the ledger agrees with the provider',
      `${difference}: ${[...disagreements, ...unexplained].join('; ')}`,
    )
}
