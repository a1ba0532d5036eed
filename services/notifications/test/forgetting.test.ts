import { registrationConfirmed } from '@robokids/contracts/enrollment'
import { codeIssued } from '@robokids/contracts/identity'
import { mailsSchema } from '@robokids/contracts/notifications'
import { eventually } from '@robokids/test/bed'
import { eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mails } from '../src/schema.ts'
import { confirmed, issued, registration } from './events.ts'
import { adminHeaders, openOffice, type NotificationsFixture } from './fixture.ts'

// Time passes here: an office of its own.
let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

const db = () => office.service.context.db

async function isSettled({ registrationId }: { registrationId: string }): Promise<boolean> {
  const [mail] = await office.mailsOf(registrationId)
  return mail !== undefined && mail.status !== 'pending'
}

async function confirm() {
  const facts = registration()
  await office.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

describe('what a message said', () => {
  it('is forgotten half a year later, while that it was sent, to whom and when is kept', async () => {
    const sent = await confirm()
    const text = issued(office.service.context.clock.now(), '907314', { medium: 'SMS', destination: '+16505550001' })
    await office.bed.bus.publish(codeIssued, text.userId, text)
    const refused = registration()
    office.post.plan(refused.email, 'quote')
    await office.bed.bus.publish(registrationConfirmed, refused.registrationId, confirmed(refused))
    for (const facts of [sent, refused]) await eventually(() => isSettled(facts))
    await eventually(async () => (await office.mailsTo(text.userId))[0]?.status === 'sent')
    const [before] = await office.mailsOf(sent.registrationId)

    office.passTime({ hours: 179 * 24 })
    const recent = await confirm()
    await eventually(() => isSettled(recent))
    expect(await db().$count(mails, isNull(mails.data))).toBe(0)
    office.passTime({ hours: 2 * 24 })
    await eventually(async () => (await db().$count(mails, isNull(mails.data))) === 3)

    expect((await office.mailsOf(sent.registrationId))[0]).toEqual(before)
    const rows = await db()
      .select({ row: sql<string>`${mails}::text` })
      .from(mails)
      .where(isNull(mails.data))
    for (const { row } of rows) expect(row).not.toMatch(/Maren Holt|Ivo|Harbor Way|907314/)
    const [kept] = await db().select().from(mails).where(isNotNull(mails.data))
    expect(kept).toMatchObject({ registrationId: recent.registrationId, data: { guardianName: 'Maren Holt' } })

    const answer = await fetch(`${office.service.url}/mails/${before?.mailId}/resend`, {
      method: 'POST',
      headers: adminHeaders,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'validation_failed',
      message: 'This mail is so old that what it said is not kept any more.',
    })
    expect((await office.mailsOf(sent.registrationId))[0]).toEqual(before)
  })

  it('is forgotten of as many as there are', async () => {
    const now = office.service.context.clock.now()
    await db().execute(sql`
      insert into ${mails} (id, fact, kind, recipient, data, status, message_id, next_try_at, created_at, sent_at)
      select gen_random_uuid(), 'user_deleted:' || n, 'user_deleted', 'many@example.com', '{"givenName":"Maren"}', 'sent',
             '<' || n || '@example.com>', t, t, t
      from generate_series(1, 1200) as n, (select ${now.subtract({ hours: 181 * 24 }).toString()}::timestamptz as t) as old`)
    office.service.wakeAll()
    await eventually(async () => (await db().$count(mails, eq(mails.recipient, 'many@example.com'))) === 1200)
    const isOfMany = sql`${mails.recipient} = 'many@example.com' and ${mails.data} is not null`
    await eventually(async () => (await db().$count(mails, isOfMany)) === 0)
    const answer = await fetch(`${office.service.url}/mails?email=Many@example.com`, { headers: adminHeaders })
    expect(mailsSchema.parse(await answer.json()).mails).toHaveLength(500)
  })
})
