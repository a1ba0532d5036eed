import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { idOf, Stage } from './stage.ts'

/**
 * Interactions of features: what a family, an operator, the provider or a process does while something else is in
 * progress. One system serves all tests of a file; each test has its own families and is independent.
 */

export function useStage(): () => Stage {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.start()
  })
  beforeEach(() => stage.begin())
  afterEach(() => stage.restore())
  afterAll(() => stage.stop())
  return () => stage
}

/** Adds the final test of a file. */
export function checkTotals(stage: () => Stage): void {
  describe('Totals after all tests', () => {
    it('Every payment and refund at the provider is recorded, and seat counts match', async () => {
      const sql = stage().system.sql('billing')
      const { charges, refunds } = stage().system.provider
      const taken = [...charges.values()].filter(({ status }) => status === 'succeeded')
      const payments = await sql<{ intent: string; amount: number }[]>`
        select stripe_payment_intent_id as intent, amount from payments`
      const byText = (a: string, b: string) => a.localeCompare(b)
      expect(payments.map(({ intent, amount }) => `${intent} ${amount}`).toSorted(byText)).toEqual(
        taken.map((charge) => `${idOf(charge.payment_intent)} ${charge.amount_captured}`).toSorted(byText),
      )
      const back = await sql<{ id: string; amount: number; status: string }[]>`
        select stripe_refund_id as id, amount, status from refunds where stripe_refund_id is not null`
      expect(back.map(({ id, amount, status }) => `${id} ${amount} ${status}`).toSorted(byText)).toEqual(
        [...refunds.values()].map(({ object: { id, amount, status } }) => `${id} ${amount} ${status}`).toSorted(byText),
      )
      const wrong = await stage().system.sql('enrollment')`
        select s.class_type, s.date, s.held, s.sold from class_sessions s where s.sold <> (
          (select count(*) from places p join registrations r on r.id = p.registration_id
            where p.class_session_id = s.id and p.status = 'seated' and r.status in ('confirmed', 'waiver_signed'))
          + (select count(*) from member_seats m where m.class_session_id = s.id and m.outcome = 'seated')
          + (select count(*) from member_bookings b where b.class_session_id = s.id and b.status = 'booked'))
        or (s.class_type <> 'membership' and s.held <> (select coalesce(sum(seats), 0) from registrations r
            where r.class_session_id = s.id and r.status = 'held')
          + (select coalesce(sum(seats), 0) from changes c where c.to_class_session_id = s.id and c.status = 'held'))`
      expect(wrong).toEqual([])
    })
  })
}
