import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { registrationConfirmed, waiverSigned } from '@robokids/contracts/enrollment'
import { mailDelivered, mailFailed } from '@robokids/contracts/notifications'
import { connect } from '@robokids/runtime/db'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { mails } from '../src/schema.ts'
import { confirmed, registration, signed } from './events.ts'
import { startNotifications, waiverAt, type NotificationsFixture } from './fixture.ts'

// Each test advances the clock or stops the mail server, so each has its own fixture.
let fixture: NotificationsFixture
beforeEach(async () => {
  fixture = await startNotifications()
})
afterEach(() => fixture.close())

async function mailOf(registrationId: string) {
  return (await fixture.mailsOf(registrationId))[0]
}

async function publishConfirmation(facts = registration()) {
  await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

describe('a mail', () => {
  it('is retried after a 4xx and then sent once', async () => {
    const facts = registration()
    fixture.smtp.plan(facts.email, 'greylist', 'greylist')
    await publishConfirmation(facts)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'pending', attempts: 1 })
    expect((await mailOf(facts.registrationId))?.lastError).toContain('Greylisted')

    fixture.advanceTime({ seconds: 6 })
    await eventually(async () => {
      const [row] = await fixture.service.context.db
        .select()
        .from(mails)
        .where(eq(mails.registrationId, facts.registrationId))
      return row?.attempts === 2 && row.leasedUntil === null
    })
    fixture.advanceTime({ seconds: 31 })
    await fixture.smtp.mailTo(facts.email)
    const mail = await eventually(async () => {
      const found = await mailOf(facts.registrationId)
      return found?.status === 'sent' ? found : undefined
    })
    expect(mail).toMatchObject({ attempts: 3, lastError: null })
    fixture.advanceTime({ hours: 100 })
    await publishConfirmation()
    await fixture.bed.bus.seen(mailDelivered, (data) => data.registrationId === facts.registrationId)
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it.each(['refuse', 'refuse_message'] as const)(
    'is given up after a 5xx (%s), and mail.failed is published',
    async (fault) => {
      const facts = registration()
      fixture.smtp.plan(facts.email, fault)
      await publishConfirmation(facts)
      const { data } = await fixture.bed.bus.seen(mailFailed, (data) => data.registrationId === facts.registrationId)
      expect(data).toMatchObject({ kind: 'registration_confirmed', reason: expect.stringMatching(/550|554/) })
      expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'failed', attempts: 1 })
      fixture.advanceTime({ hours: 100 })
      const next = await publishConfirmation()
      await fixture.smtp.mailTo(next.email)
      expect(fixture.smtp.to(facts.email)).toHaveLength(0)
    },
  )

  it('can be resent by an administrator after it was given up', async () => {
    const facts = registration()
    fixture.smtp.plan(facts.email, 'refuse')
    await publishConfirmation(facts)
    await fixture.bed.bus.seen(mailFailed)
    const failed = await mailOf(facts.registrationId)
    await fixture.resend(failed?.mailId ?? '')
    await fixture.smtp.mailTo(facts.email)
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
  })

  it('is sent again under the same Message-ID if the server received it but could not respond', async () => {
    const facts = registration()
    fixture.smtp.plan(facts.email, 'drop')
    await publishConfirmation(facts)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    fixture.advanceTime({ seconds: 6 })
    await fixture.smtp.mailTo(facts.email, 2)
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
    const ids = fixture.smtp.to(facts.email).map(({ parsed }) => parsed.messageId)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
    await fixture.bed.bus.seen(mailDelivered)
    expect(fixture.bed.bus.all(mailDelivered)).toHaveLength(1)
  })

  it('does not delay others if its server is unresponsive', async () => {
    const facts = registration()
    fixture.smtp.plan(facts.email, 'hang')
    await publishConfirmation(facts)
    await eventually(() => fixture.smtp.to(facts.email).length === 1)
    const next = await publishConfirmation()
    await fixture.smtp.mailTo(next.email)
    await eventually(async () => (await mailOf(next.registrationId))?.status === 'sent')
    expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'pending' })
  })

  it('waits for a mail server that is down and is sent once when it is back', async () => {
    await fixture.smtp.close()
    const families = [await publishConfirmation(), await publishConfirmation(), await publishConfirmation()]
    for (const { registrationId } of families) {
      await eventually(async () => (await mailOf(registrationId))?.lastError)
    }
    expect(fixture.smtp.all()).toHaveLength(0)
    await fixture.smtp.open()
    fixture.advanceTime({ seconds: 6 })
    for (const { email, registrationId } of families) {
      await fixture.smtp.mailTo(email)
      await eventually(async () => (await mailOf(registrationId))?.status === 'sent')
      expect(fixture.smtp.to(email)).toHaveLength(1)
    }
  })

  it('waits for the signed waiver while enrollment is unavailable', async () => {
    const facts = registration()
    const data = signed(facts)
    fixture.waivers.failNext(1)
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, data)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    expect((await mailOf(facts.registrationId))?.lastError).toContain('503')
    expect(fixture.smtp.to(facts.email)).toHaveLength(0)
    fixture.advanceTime({ seconds: 6 })
    const { files } = await fixture.smtp.mailTo(facts.email)
    expect(files[0]?.content.equals(waiverAt(data.signedPdfPath))).toBe(true)
  })

  it('is sent once if it is resent twice while pending', async () => {
    const facts = registration()
    fixture.smtp.plan(facts.email, 'greylist')
    await publishConfirmation(facts)
    const mail = await eventually(async () => {
      const found = await mailOf(facts.registrationId)
      return found?.lastError ? found : undefined
    })
    await fixture.smtp.close()
    await Promise.all([fixture.resend(mail.mailId), fixture.resend(mail.mailId)])
    await fixture.smtp.open()
    fixture.advanceTime({ hours: 1 })
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('is sent once if two processes share the work', async () => {
    const second = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    const families = await Promise.all(Array.from({ length: 25 }, () => publishConfirmation()))
    for (const { registrationId } of families) {
      await eventually(async () => (await mailOf(registrationId))?.status === 'sent', 20_000)
    }
    second.wakeAll()
    expect(fixture.smtp.all()).toHaveLength(25)
    await eventually(() => fixture.bed.bus.all(mailDelivered).length === 25)
  })
})

describe('a process that is killed', () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
  })

  function startProcess(databaseUrl: string) {
    const child = spawn(process.execPath, [main], {
      env: {
        ...process.env,
        APP_ENV: 'local',
        LOG_LEVEL: 'silent',
        NATS_URL: fixture.bed.nats.url,
        DATABASE_URL: databaseUrl,
        ...fixture.env,
        SMTP_TIMEOUT_MS: '60000',
      },
      stdio: 'ignore',
    })
    children.push(child)
    return child
  }

  it('during an SMTP session leaves a mail that is sent after the restart under the same Message-ID', async () => {
    await fixture.service.stop()
    const facts = registration()
    fixture.smtp.plan(facts.email, 'hang')
    const child = startProcess(fixture.service.databaseUrl)
    await publishConfirmation(facts)
    await eventually(() => fixture.smtp.to(facts.email).length === 1, 30_000)
    child.kill('SIGKILL')
    const again = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    await eventually(() => fixture.bed.bus.all(mailDelivered).length === 1, 30_000)
    const ids = fixture.smtp.to(facts.email).map(({ parsed }) => parsed.messageId)
    expect(new Set(ids).size).toBe(1)
    expect(ids).toHaveLength(2)
  })

  it('loses no mail and repeats none that was recorded as sent', async () => {
    const { databaseUrl } = fixture.service
    await fixture.service.stop()
    const connection = connect({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 }, 'test', fixture.service.context.log)
    const families = Array.from({ length: 9 }, () => registration())
    const sentIds = async () => {
      const rows = await connection.db.select({ id: mails.registrationId }).from(mails).where(eq(mails.status, 'sent'))
      return new Set(rows.flatMap(({ id }) => id ?? []))
    }
    /** The number of copies of each mail that was recorded as sent when a process was killed. */
    const recorded = new Map<string, number>()
    for (let round = 0; round < 3; round += 1) {
      const child = startProcess(databaseUrl)
      const batch = families.slice(round * 3, round * 3 + 3)
      await Promise.all(batch.map((facts) => publishConfirmation(facts)))
      // The first one is recorded as sent; the others and the events to be published are in any state.
      await eventually(async () => {
        const sent = await sentIds()
        return batch.some(({ registrationId }) => sent.has(registrationId))
      }, 30_000)
      child.kill('SIGKILL')
      for (const id of await sentIds()) {
        const family = families.find(({ registrationId }) => registrationId === id)
        if (family && !recorded.has(id)) recorded.set(id, fixture.smtp.to(family.email).length)
      }
    }
    const again = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    for (const { registrationId, email } of families) {
      await fixture.bed.bus.seen(mailDelivered, (data) => data.registrationId === registrationId, 30_000)
      const ids = fixture.smtp.to(email).map(({ parsed }) => parsed.messageId)
      expect(new Set(ids).size).toBe(1)
      expect(ids).toHaveLength(recorded.get(registrationId) ?? ids.length)
    }
    expect(recorded.size).toBeGreaterThanOrEqual(3)
    await connection.close()
  }, 120_000)
})
