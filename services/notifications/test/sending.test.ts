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
import { openOffice, waiverAt, type NotificationsFixture } from './fixture.ts'

// Each test moves the clock or stops the mail server: each has an office for itself.
let office: NotificationsFixture
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

async function mailOf(registrationId: string) {
  return (await office.mailsOf(registrationId))[0]
}

async function confirm(facts = registration()) {
  await office.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

describe('a mail', () => {
  it('is tried again after a 4xx, and then sent once', async () => {
    const facts = registration()
    office.post.plan(facts.email, 'greylist', 'greylist')
    await confirm(facts)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'pending', attempts: 1 })
    expect((await mailOf(facts.registrationId))?.lastError).toContain('Greylisted')

    office.passTime({ seconds: 6 })
    await eventually(async () => {
      const [row] = await office.service.context.db
        .select()
        .from(mails)
        .where(eq(mails.registrationId, facts.registrationId))
      return row?.attempts === 2 && row.leasedUntil === null
    })
    office.passTime({ seconds: 31 })
    await office.post.mailTo(facts.email)
    const mail = await eventually(async () => {
      const found = await mailOf(facts.registrationId)
      return found?.status === 'sent' ? found : undefined
    })
    expect(mail).toMatchObject({ attempts: 3, lastError: null })
    office.passTime({ hours: 100 })
    await confirm()
    await office.bed.bus.seen(mailDelivered, (data) => data.registrationId === facts.registrationId)
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it.each(['refuse', 'refuse_message'] as const)('is given up after a 5xx (%s), which is told', async (fault) => {
    const facts = registration()
    office.post.plan(facts.email, fault)
    await confirm(facts)
    const { data } = await office.bed.bus.seen(mailFailed, (data) => data.registrationId === facts.registrationId)
    expect(data).toMatchObject({ kind: 'registration_confirmed', reason: expect.stringMatching(/550|554/) })
    expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'failed', attempts: 1 })
    office.passTime({ hours: 100 })
    const next = await confirm()
    await office.post.mailTo(next.email)
    expect(office.post.to(facts.email)).toHaveLength(0)
  })

  it('that was given up can be sent again by an administrator', async () => {
    const facts = registration()
    office.post.plan(facts.email, 'refuse')
    await confirm(facts)
    await office.bed.bus.seen(mailFailed)
    const failed = await mailOf(facts.registrationId)
    await office.resend(failed?.mailId ?? '')
    await office.post.mailTo(facts.email)
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
  })

  it('that the server took without being able to say so is sent again under the same Message-ID', async () => {
    const facts = registration()
    office.post.plan(facts.email, 'drop')
    await confirm(facts)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    office.passTime({ seconds: 6 })
    await office.post.mailTo(facts.email, 2)
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
    const ids = office.post.to(facts.email).map(({ parsed }) => parsed.messageId)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
    await office.bed.bus.seen(mailDelivered)
    expect(office.bed.bus.all(mailDelivered)).toHaveLength(1)
  })

  it('whose server answers nothing does not keep the others waiting for ever', async () => {
    const facts = registration()
    office.post.plan(facts.email, 'hang')
    await confirm(facts)
    await eventually(() => office.post.to(facts.email).length === 1)
    const next = await confirm()
    await office.post.mailTo(next.email)
    await eventually(async () => (await mailOf(next.registrationId))?.status === 'sent')
    expect(await mailOf(facts.registrationId)).toMatchObject({ status: 'pending' })
  })

  it('waits for a mail server that is away, and goes out once when it is back', async () => {
    await office.post.close()
    const families = [await confirm(), await confirm(), await confirm()]
    for (const { registrationId } of families) {
      await eventually(async () => (await mailOf(registrationId))?.lastError)
    }
    expect(office.post.all()).toHaveLength(0)
    await office.post.open()
    office.passTime({ seconds: 6 })
    for (const { email, registrationId } of families) {
      await office.post.mailTo(email)
      await eventually(async () => (await mailOf(registrationId))?.status === 'sent')
      expect(office.post.to(email)).toHaveLength(1)
    }
  })

  it('waits for the signed waiver while enrollment is away', async () => {
    const facts = registration()
    const data = signed(facts)
    office.shelf.failNext(1)
    await office.bed.bus.publish(waiverSigned, facts.registrationId, data)
    await eventually(async () => (await mailOf(facts.registrationId))?.lastError)
    expect((await mailOf(facts.registrationId))?.lastError).toContain('503')
    expect(office.post.to(facts.email)).toHaveLength(0)
    office.passTime({ seconds: 6 })
    const { files } = await office.post.mailTo(facts.email)
    expect(files[0]?.content.equals(waiverAt(data.signedPdfPath))).toBe(true)
  })

  it('asked for twice while it waits is sent once', async () => {
    const facts = registration()
    office.post.plan(facts.email, 'greylist')
    await confirm(facts)
    const mail = await eventually(async () => {
      const found = await mailOf(facts.registrationId)
      return found?.lastError ? found : undefined
    })
    await office.post.close()
    await Promise.all([office.resend(mail.mailId), office.resend(mail.mailId)])
    await office.post.open()
    office.passTime({ hours: 1 })
    await eventually(async () => (await mailOf(facts.registrationId))?.status === 'sent')
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it('is sent once by two processes that share the work', async () => {
    const second = await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    const families = await Promise.all(Array.from({ length: 25 }, () => confirm()))
    for (const { registrationId } of families) {
      await eventually(async () => (await mailOf(registrationId))?.status === 'sent', 20_000)
    }
    second.wakeAll()
    expect(office.post.all()).toHaveLength(25)
    await eventually(() => office.bed.bus.all(mailDelivered).length === 25)
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
        NATS_URL: office.bed.nats.url,
        DATABASE_URL: databaseUrl,
        ...office.env,
        SMTP_TIMEOUT_MS: '60000',
      },
      stdio: 'ignore',
    })
    children.push(child)
    return child
  }

  it('while it talks to the mail server leaves a mail that is sent after the restart, under the same Message-ID', async () => {
    await office.service.stop()
    const facts = registration()
    office.post.plan(facts.email, 'hang')
    const child = startProcess(office.service.databaseUrl)
    await confirm(facts)
    await eventually(() => office.post.to(facts.email).length === 1, 30_000)
    child.kill('SIGKILL')
    const again = await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    await eventually(() => office.bed.bus.all(mailDelivered).length === 1, 30_000)
    const ids = office.post.to(facts.email).map(({ parsed }) => parsed.messageId)
    expect(new Set(ids).size).toBe(1)
    expect(ids).toHaveLength(2)
  })

  it('loses nothing, and sends nothing again that it had noted as sent', async () => {
    const { databaseUrl } = office.service
    await office.service.stop()
    const connection = connect({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 }, 'test', office.service.context.log)
    const families = Array.from({ length: 9 }, () => registration())
    const sentIds = async () => {
      const rows = await connection.db.select({ id: mails.registrationId }).from(mails).where(eq(mails.status, 'sent'))
      return new Set(rows.flatMap(({ id }) => id ?? []))
    }
    /** How many copies were sent of what was noted as sent when a process was killed. */
    const noted = new Map<string, number>()
    for (let round = 0; round < 3; round += 1) {
      const child = startProcess(databaseUrl)
      const batch = families.slice(round * 3, round * 3 + 3)
      await Promise.all(batch.map((facts) => confirm(facts)))
      // The first of them is noted; the others, and what is to be published, are anywhere.
      await eventually(async () => {
        const sent = await sentIds()
        return batch.some(({ registrationId }) => sent.has(registrationId))
      }, 30_000)
      child.kill('SIGKILL')
      for (const id of await sentIds()) {
        const family = families.find(({ registrationId }) => registrationId === id)
        if (family && !noted.has(id)) noted.set(id, office.post.to(family.email).length)
      }
    }
    const again = await office.bed.start(notifications, { ...office.env, DATABASE_URL: databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    for (const { registrationId, email } of families) {
      await office.bed.bus.seen(mailDelivered, (data) => data.registrationId === registrationId, 30_000)
      const ids = office.post.to(email).map(({ parsed }) => parsed.messageId)
      expect(new Set(ids).size).toBe(1)
      expect(ids).toHaveLength(noted.get(registrationId) ?? ids.length)
    }
    expect(noted.size).toBeGreaterThanOrEqual(3)
    await connection.close()
  }, 120_000)
})
