import { randomUUIDv7 } from 'node:crypto'
import { subscriptionReminder } from '@robokids/contracts/billing'
import { outbox } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { remindMembers } from '../../src/membership/remind-members.ts'
import { isReminderDue } from '../../src/membership/rules.ts'
import { membershipAttempts, memberships } from '../../src/schema.ts'
import { neverAborts, BillingFixture } from '../fixture.ts'

let fixture: BillingFixture
beforeAll(async () => {
  fixture = await BillingFixture.startIsolated()
  // Reconciliation must not find out that these members have no subscription.
  await fixture.fault({ kind: 'error', method: 'GET', path: '/v1/subscriptions/*', times: 10_000, status: 400 })
})
afterAll(() => fixture.close())

const now = () => fixture.service.context.clock.now().round('millisecond')

async function member(differences: Partial<typeof memberships.$inferInsert> = {}): Promise<string> {
  const { db } = fixture.service.context
  const attemptId = randomUUIDv7()
  const facts = {
    email: `${attemptId}@example.com`,
    emailKey: `${attemptId}@example.com`,
    plan: differences.plan ?? ('monthly' as const),
    amount: 700,
    currency: 'usd' as const,
  }
  await db.insert(membershipAttempts).values({
    ...facts,
    id: attemptId,
    classDate: '2027-01-08',
    status: 'paid',
    parameters: {} as never,
    expiresAt: now(),
    checkedAt: now(),
    createdAt: now(),
  })
  await db.insert(memberships).values({
    ...facts,
    attemptId,
    stripeSubscriptionId: `sub_${attemptId}`,
    stripeCustomerId: `cus_${attemptId}`,
    status: 'active',
    activatedAt: now(),
    paidUntil: now().add({ hours: 24 }),
    ...differences,
  })
  return attemptId
}

const remindersOf = (membershipId: string) =>
  fixture.bed.bus.all(subscriptionReminder, ({ attemptId }) => attemptId === membershipId)

describe('reminders of members', () => {
  it('are published once each, exactly as the rule says', async () => {
    const days = (from: number, to: number) => fc.integer({ min: from * 24, max: to * 24 })
    const standing = fc.record({
      plan: fc.constantFrom('monthly' as const, 'yearly' as const),
      activated: days(0, 800),
      paidUntil: fc.option(days(-40, 400)),
      reminded: fc.option(days(0, 800)),
    })
    const expected: boolean[] = []
    const ids: string[] = []
    // With an offset of an eighth of an hour, so that nothing is due exactly when the job runs.
    const start = now().add({ minutes: 7 })
    for (const { plan, activated, paidUntil, reminded } of fc.sample(standing, 80)) {
      const times = {
        activatedAt: start.subtract({ hours: activated }),
        paidUntil: paidUntil === null ? null : start.add({ hours: paidUntil }),
        remindedAt: reminded === null ? null : start.subtract({ hours: reminded }),
      }
      expected.push(times.paidUntil !== null && isReminderDue({ ...times, plan, paidUntil: times.paidUntil }, now()))
      ids.push(await member({ plan, ...times }))
    }
    expect(new Set(expected).size).toBe(2)
    const { context } = fixture.service
    await Promise.all([remindMembers(context, neverAborts), remindMembers(context, neverAborts)])
    await remindMembers(context, neverAborts)
    await eventually(async () => {
      expect(await context.db.$count(outbox, isNull(outbox.publishedAt))).toBe(0)
      expect(ids.map((id) => remindersOf(id).length)).toEqual(expected.map((due) => (due ? 1 : 0)))
      return true
    })
  })

  it('are published in batches, of which one member’s failure holds up no other', async () => {
    const { context } = fixture.service
    const model = await member()
    const activatedAt = now().subtract({ hours: 400 * 24 })
    const [[attempt], [membership]] = await Promise.all([
      context.db.select().from(membershipAttempts).where(eq(membershipAttempts.id, model)),
      context.db.select().from(memberships).where(eq(memberships.attemptId, model)),
    ])
    const ids = Array.from({ length: 1_200 }, () => randomUUIDv7())
    await context.db.insert(membershipAttempts).values(ids.map((id) => ({ ...attempt!, id, emailKey: id })))
    await context.db.insert(memberships).values(
      ids.map((id) => ({
        ...membership!,
        attemptId: id,
        emailKey: id,
        stripeSubscriptionId: `sub_${id}`,
        activatedAt,
      })),
    )
    const bad = ids[600]!
    await context.db.execute(sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`)
    await context.db.execute(
      sql.raw(`create trigger refuse before update on memberships for each row
        when (new.attempt_id = '${bad}') execute function refuse()`),
    )
    await expect(remindMembers(context, neverAborts)).rejects.toThrow('1 members could not be reminded.')
    await context.db.execute(sql`drop trigger refuse on memberships`)
    const due = and(inArray(memberships.attemptId, ids), isNull(memberships.remindedAt))
    expect(await context.db.select({ id: memberships.attemptId }).from(memberships).where(due)).toEqual([{ id: bad }])
    await remindMembers(context, neverAborts)
    expect(await context.db.$count(memberships, due)).toBe(0)
  })

  it('are not delayed by members who need none', async () => {
    const { context } = fixture.service
    const busy = await member()
    const due = await member({ activatedAt: now().subtract({ hours: 400 * 24 }) })
    await context.db.transaction(async (tx) => {
      await tx.select().from(memberships).where(eq(memberships.attemptId, busy)).for('update')
      await remindMembers(context, neverAborts)
      await eventually(() => remindersOf(due).length === 1)
    })
  })
})
