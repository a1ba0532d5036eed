import { registrationConfirmed } from '@robokids/contracts/enrollment'
import { codeIssued } from '@robokids/contracts/identity'
import { mailsSchema } from '@robokids/contracts/notifications'
import { eventually } from '@robokids/test/bed'
import { eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mails } from '../src/schema.ts'
import { confirmed, issued, registration } from './events.ts'
import { adminHeaders, startNotifications, type NotificationsFixture } from './fixture.ts'

// These tests advance the clock, so they have their own fixture.
let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

const db = () => fixture.service.context.db

async function isProcessed({ registrationId }: { registrationId: string }): Promise<boolean> {
  const [mail] = await fixture.mailsOf(registrationId)
  return mail !== undefined && mail.status !== 'pending'
}

async function publishConfirmation() {
  const facts = registration()
  await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

describe('the content of a message', () => {
  it('is deleted after half a year, while recipient, time and status are kept', async () => {
    const sent = await publishConfirmation()
    const text = issued(fixture.service.context.clock.now(), '907314', { medium: 'SMS', destination: '+16505550001' })
    await fixture.bed.bus.publish(codeIssued, text.userId, text)
    const refused = registration()
    fixture.smtp.plan(refused.email, 'quote')
    await fixture.bed.bus.publish(registrationConfirmed, refused.registrationId, confirmed(refused))
    for (const facts of [sent, refused]) await eventually(() => isProcessed(facts))
    await eventually(async () => (await fixture.mailsTo(text.userId))[0]?.status === 'sent')
    const [before] = await fixture.mailsOf(sent.registrationId)

    fixture.advanceTime({ hours: 179 * 24 })
    const recent = await publishConfirmation()
    await eventually(() => isProcessed(recent))
    expect(await db().$count(mails, isNull(mails.data))).toBe(0)
    fixture.advanceTime({ hours: 2 * 24 })
    await eventually(async () => (await db().$count(mails, isNull(mails.data))) === 2)
    // Codes are forgotten earlier, and completely.
    await eventually(async () => (await fixture.mailsTo(text.userId)).length === 0)

    expect((await fixture.mailsOf(sent.registrationId))[0]).toEqual(before)
    const rows = await db()
      .select({ row: sql<string>`${mails}::text` })
      .from(mails)
      .where(isNull(mails.data))
    for (const { row } of rows) expect(row).not.toMatch(/Maren Holt|Ivo|Harbor Way|907314/)
    const [kept] = await db().select().from(mails).where(isNotNull(mails.data))
    expect(kept).toMatchObject({ registrationId: recent.registrationId, data: { guardianName: 'Maren Holt' } })

    const answer = await fetch(`${fixture.service.url}/mails/${before?.mailId}/resend`, {
      method: 'POST',
      headers: adminHeaders,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'validation_failed',
      message: 'This mail is too old: its content was deleted.',
    })
    expect((await fixture.mailsOf(sent.registrationId))[0]).toEqual(before)
  })

  it('is deleted from thousands of messages', async () => {
    const now = fixture.service.context.clock.now()
    await db().execute(sql`
      insert into ${mails} (id, fact, kind, recipient, data, status, message_id, next_try_at, created_at, sent_at)
      select gen_random_uuid(), 'user_deleted:' || n, 'user_deleted', 'many@example.com', '{"givenName":"Maren"}', 'sent',
             '<' || n || '@example.com>', t, t, t
      from generate_series(1, 1200) as n, (select ${now.subtract({ hours: 181 * 24 }).toString()}::timestamptz as t) as old`)
    fixture.service.wakeAll()
    await eventually(async () => (await db().$count(mails, eq(mails.recipient, 'many@example.com'))) === 1200)
    const isOfMany = sql`${mails.recipient} = 'many@example.com' and ${mails.data} is not null`
    await eventually(async () => (await db().$count(mails, isOfMany)) === 0)
    const answer = await fetch(`${fixture.service.url}/mails?email=Many@example.com`, { headers: adminHeaders })
    expect(mailsSchema.parse(await answer.json()).mails).toHaveLength(500)
  })
})
