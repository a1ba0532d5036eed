import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { registrationConfirmed, waiverSigned } from '@robokids/contracts/enrollment'
import { codeIssued } from '@robokids/contracts/identity'
import { mailDelivered } from '@robokids/contracts/notifications'
import { eventually } from '@robokids/test/bed'
import { testPostgres } from '@robokids/test/infrastructure'
import { eq, sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { mails } from '../src/schema.ts'
import { confirmed, issued, registration, signed } from './events.ts'
import { startNotifications, type NotificationsFixture } from './fixture.ts'

// Each test stops a dependency of the service, so each has its own fixture.
const open: NotificationsFixture[] = []
afterEach(async () => {
  for (const fixture of open.splice(0)) await fixture.close()
})

/** Starts a service with a long SMTP timeout. */
async function startFixture(settings: Record<string, string> = {}): Promise<NotificationsFixture> {
  const fixture = await startNotifications({ SMTP_TIMEOUT_MS: '20000', ...settings })
  open.push(fixture)
  return fixture
}

async function publishConfirmation(fixture: NotificationsFixture) {
  const facts = registration()
  await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

/** Publishes a confirmation whose mail the server receives but does not respond to yet. */
async function publishHeldConfirmation(fixture: NotificationsFixture) {
  const facts = registration()
  fixture.smtp.plan(facts.email, 'hold')
  await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  await fixture.smtp.mailTo(facts.email)
  return facts
}

async function isSent(fixture: NotificationsFixture, { registrationId }: { registrationId: string }): Promise<boolean> {
  return (await fixture.mailsOf(registrationId))[0]?.status === 'sent'
}

async function rowOf(fixture: NotificationsFixture, { registrationId }: { registrationId: string }) {
  const [row] = await fixture.service.context.db.select().from(mails).where(eq(mails.registrationId, registrationId))
  if (!row) throw new Error('There is no such mail.')
  return row
}

describe('a mail that is being sent', () => {
  it('is not sent again by another process if all database connections are lost meanwhile', async () => {
    const fixture = await startFixture()
    const facts = await publishHeldConfirmation(fixture)
    const second = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    await fixture.service.context.db.execute(
      sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'notifications%' and datname = current_database() and pid <> pg_backend_pid()`,
    )
    for (const { context } of [fixture.service, second]) context.clock.advance({ seconds: 45 })
    // The first process has lost its lock too, so the second one runs the job now.
    const others = await Promise.all([publishConfirmation(fixture), publishConfirmation(fixture)])
    for (const other of others) await eventually(() => isSent(fixture, other))
    fixture.smtp.release(facts.email)
    await eventually(() => isSent(fixture, facts))
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('is sent once if the database is unavailable when the server accepts it', async () => {
    const server = await testPostgres()
    try {
      const fixture = await startFixture({ DATABASE_URL: `${server.url}/postgres` })
      const facts = await publishHeldConfirmation(fixture)
      // Otherwise the test server could lose the last transactions when it is killed.
      await fixture.service.context.db.execute(sql`checkpoint`)
      await server.kill()
      fixture.smtp.release(facts.email)
      // Longer than a restart or failover usually takes, because the duration is what is tested.
      await wait(9_000)
      await server.restart()
      fixture.advanceTime({ seconds: 45 })
      await eventually(() => isSent(fixture, facts), 30_000)
      expect(fixture.smtp.to(facts.email)).toHaveLength(1)
      await fixture.bed.bus.seen(mailDelivered, ({ registrationId }) => registrationId === facts.registrationId)
      expect(await rowOf(fixture, facts)).toMatchObject({ attempts: 1 })
      await fixture.close()
      open.splice(0)
    } finally {
      await server.stop()
    }
  })

  it('is recorded as sent if the server accepts it while the process stops', async () => {
    const fixture = await startFixture()
    const facts = await publishHeldConfirmation(fixture)
    const stopped = fixture.service.stop()
    fixture.smtp.release(facts.email)
    await stopped
    await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    await fixture.bed.bus.seen(mailDelivered, ({ registrationId }) => registrationId === facts.registrationId)
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('does not delay the stop of a process beyond ten seconds, and is retried under the same Message-ID', async () => {
    const fixture = await startFixture()
    const facts = await publishHeldConfirmation(fixture)
    const begun = performance.now()
    await fixture.service.stop()
    expect(performance.now() - begun).toBeLessThan(9_000)
    const again = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    again.wakeAll()
    await fixture.smtp.mailTo(facts.email, 2)
    expect(new Set(fixture.smtp.to(facts.email).map(({ parsed }) => parsed.messageId)).size).toBe(1)
    fixture.smtp.release(facts.email)
  })

  it('is not sent twice if an administrator resends it meanwhile', async () => {
    const fixture = await startFixture()
    const facts = await publishHeldConfirmation(fixture)
    const [mail] = await fixture.mailsOf(facts.registrationId)
    expect(await fixture.resend(mail?.mailId ?? '')).toMatchObject({ status: 'pending', attempts: 1 })
    fixture.advanceTime({ seconds: 45 })
    const other = await publishConfirmation(fixture)
    await eventually(() => isSent(fixture, other))
    fixture.smtp.release(facts.email)
    await eventually(() => isSent(fixture, facts))
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('delays no other mail', async () => {
    const fixture = await startFixture()
    const facts = await publishHeldConfirmation(fixture)
    const others = await Promise.all(Array.from({ length: 12 }, () => publishConfirmation(fixture)))
    for (const other of others) await eventually(() => isSent(fixture, other))
    expect(await isSent(fixture, facts)).toBe(false)
    fixture.smtp.release(facts.email)
    await eventually(() => isSent(fixture, facts))
  })

  it('delays no code, even if there are many slow mails', async () => {
    const fixture = await startFixture()
    const slow = Array.from({ length: 8 }, () => registration())
    for (const { email } of slow) fixture.smtp.plan(email, 'hold')
    for (const facts of slow) {
      await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    }
    await eventually(() => fixture.smtp.all().length >= 4)
    const code = issued(fixture.service.context.clock.now(), '907314')
    await fixture.bed.bus.publish(codeIssued, code.userId, code)
    await fixture.smtp.mailTo(code.destination)
    await eventually(async () => (await fixture.mailsTo(code.userId))[0]?.status === 'sent')
    await eventually(async () => {
      for (const { email } of slow) fixture.smtp.release(email)
      return (await Promise.all(slow.map((facts) => isSent(fixture, facts)))).every(Boolean)
    })
    for (const { email } of slow) expect(fixture.smtp.to(email)).toHaveLength(1)
  })

  it('is aborted if the server responds to each command in time but takes too long for the whole mail', async () => {
    let closed = 0
    const server = createServer((socket) => {
      const respond = (line: string) => setTimeout(() => socket.write(`${line}\r\n`), 800)
      respond('220 slow.example')
      socket.on('data', () => respond('250 Yes'))
      socket.on('error', () => {})
      socket.on('close', () => (closed += 1))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const fixture = await startFixture({ SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_TIMEOUT_MS: '1000' })
    const facts = await publishConfirmation(fixture)
    const mail = await eventually(async () => {
      const [found] = await fixture.mailsOf(facts.registrationId)
      return found?.lastError ? found : undefined
    })
    expect(mail).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: 'The mail server took too long for the whole mail.',
    })
    await eventually(() => closed === 1)
    await new Promise((resolve) => server.close(resolve))
  })

  it('is retried later if enrollment does not respond to the request for its signed waiver', async () => {
    const fixture = await startFixture({ SMTP_TIMEOUT_MS: '500' })
    const facts = registration()
    fixture.waivers.ignoreNext(1)
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, signed(facts))
    const other = await publishConfirmation(fixture)
    await eventually(() => isSent(fixture, other))
    await eventually(async () => (await rowOf(fixture, facts)).lastError !== null)
    expect(await rowOf(fixture, facts)).toMatchObject({ status: 'pending', attempts: 1 })
    fixture.advanceTime({ seconds: 6 })
    await eventually(() => isSent(fixture, facts))
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })
})
