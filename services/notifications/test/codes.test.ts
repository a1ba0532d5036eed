import { randomUUIDv7 } from 'node:crypto'
import { codeIssued, codePurposes } from '@robokids/contracts/identity'
import { mailDelivered, mailFailed, type Mail } from '@robokids/contracts/notifications'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { mails } from '../src/schema.ts'
import { issued } from './events.ts'
import { adminHeaders, startNotifications, siteUrl, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  // Mails of one batch are sent side by side: few, so that their order says something.
  fixture = await startNotifications({ SMTP_CONNECTIONS: '4' })
})
afterAll(() => fixture.close())

type Issued = ReturnType<typeof issued>

function newCode(code: string, changes: Partial<Issued> = {}): Issued {
  return issued(fixture.service.context.clock.now(), code, changes)
}

async function publish(data: Issued) {
  return fixture.bed.bus.publish(codeIssued, data.userId, data)
}

/** Waits until the only message to the owner of a code has a status. */
async function waitForStatus({ userId }: Issued, status: Mail['status']): Promise<Mail> {
  return eventually(async () => {
    const [mail, ...others] = await fixture.mailsTo(userId)
    expect(others).toEqual([])
    return mail?.status === status ? mail : undefined
  })
}

async function rowOf({ userId }: Issued) {
  const [row] = await fixture.service.context.db.select().from(mails).where(eq(mails.userId, userId))
  return row
}

let phones = 0
/** Returns a new phone number, so that no two tests share one. */
function newPhone(): string {
  phones += 1
  return `+1650555${String(phones).padStart(4, '0')}`
}

function newText(code: string, changes: Partial<Issued> = {}): Issued {
  return newCode(code, { medium: 'SMS', destination: newPhone(), ...changes })
}

const loginPage = `${siteUrl}/membership/login`

describe('code.issued by mail', () => {
  it.each([
    ['sign_up', 'Your code to confirm your Robo Kids Learning account', 'Don’t share this code with anyone'],
    ['attribute', 'Your code to verify your email address', 'ignore this email'],
    ['password_reset', 'Your password reset code', 'ignore this email'],
    ['sign_in', 'Your code to log in', 'choose a new one'],
    ['invitation', 'Your Robo Kids Learning account', 'ignore this email'],
  ] as const)(
    'for %s states its purpose, its validity and what to do if it was not requested',
    async (purpose, subject, notRequested) => {
      const data = newCode('907314', { purpose })
      await publish(data)
      const { parsed } = await fixture.smtp.mailTo(data.destination)
      expect(parsed.subject).toBe(subject)
      expect(parsed.text?.split('\n')).toContain('907314')
      expect(parsed.html).toMatch(/<code [^>]*>907314<\/code>/)
      for (const part of [parsed.text, parsed.html || '']) {
        expect(part).toContain('It expires in 1 hour.')
        expect(part).toContain(notRequested)
      }
      expect(parsed.text).toContain('Hello Maren,')
    },
  )

  it.each(codePurposes)('for %s links to one page, without the code', async (purpose) => {
    const data = newCode('561908', { purpose })
    await publish(data)
    const { parsed } = await fixture.smtp.mailTo(data.destination)
    const page = purpose === 'sign_up' ? `${siteUrl}/confirm?email=${encodeURIComponent(data.destination)}` : loginPage
    const links = [...(parsed.html || '').matchAll(/href="([^"]*)"/g)].map(([, link]) => link)
    expect(links).toEqual([page])
    expect(parsed.text?.match(/https?:\S+/g)).toEqual([page])
    expect(parsed.html).not.toMatch(/url\(| src="(?!cid:)/)
    expect(parsed.subject).not.toContain('561908')
  })

  it('for an invitation contains user name and temporary password unchanged', async () => {
    const data = newCode('<b>&amp;"x"</b> $1', { purpose: 'invitation', username: 'maren & <co>' })
    await publish(data)
    const { parsed } = await fixture.smtp.mailTo(data.destination)
    expect(parsed.text).toContain('Temporary password:\n\n<b>&amp;"x"</b> $1\n')
    expect(parsed.text).toContain('Username:\n  maren & <co>\n')
    expect(parsed.html).toContain('>&lt;b&gt;&amp;amp;&quot;x&quot;&lt;/b&gt; $1</code>')
  })

  it('is sent once, however often and in whatever order its events are delivered', async () => {
    const [first, second] = [newCode('111222'), newCode('333444')]
    const older = await publish(second)
    const event = await publish(first)
    await fixture.bed.bus.republish(event)
    await fixture.bed.bus.republish(older)
    await publish(first)
    for (const data of [first, second]) await waitForStatus(data, 'sent')
    const last = newCode('555666')
    await publish(last)
    await fixture.bed.bus.republish(event)
    await waitForStatus(last, 'sent')
    for (const data of [first, second, last]) expect(fixture.smtp.to(data.destination)).toHaveLength(1)
    const { data } = await fixture.bed.bus.seen(mailDelivered, ({ userId }) => userId === first.userId)
    expect(data).toMatchObject({ kind: 'code_issued', registrationId: null })
  })

  it('deletes the code once it is sent', async () => {
    const data = newCode('740265')
    await publish(data)
    const mail = await waitForStatus(data, 'sent')
    const row = await rowOf(data)
    expect(row?.sealedCode).toBeNull()
    for (const kept of [JSON.stringify(row), JSON.stringify(mail)]) {
      expect(kept).not.toContain('740265')
      expect(kept).not.toContain(data.sealedCode)
    }
  })

  it('does not show a pending code to administrators', async () => {
    const data = newCode('740266')
    fixture.smtp.plan(data.destination, 'greylist')
    await publish(data)
    await eventually(async () => (await rowOf(data))?.lastError)
    expect((await rowOf(data))?.sealedCode).toBe(data.sealedCode)
    const answer = await fetch(`${fixture.service.url}/mails?userId=${data.userId}`, { headers: adminHeaders })
    const body = await answer.text()
    expect(body).toContain('Greylisted')
    expect(body).not.toContain('740266')
    expect(body).not.toContain(data.sealedCode)
  })

  it('does not send an expired code', async () => {
    const data = newCode('111111', {
      expiresAt: fixture.service.context.clock.now().subtract({ seconds: 1 }).toString(),
    })
    await publish(data)
    const mail = await waitForStatus(data, 'failed')
    expect(mail.lastError).toBe('The code expired before it could be sent.')
    expect((await rowOf(data))?.sealedCode).toBeNull()
    expect(fixture.smtp.to(data.destination)).toEqual([])
  })

  it('is retried while it is valid and given up when it expires', async () => {
    const kept = newCode('222111')
    const soon = fixture.service.context.clock.now().add({ seconds: 20 }).toString()
    const lost = newCode('222222', { expiresAt: soon })
    for (const data of [kept, lost]) fixture.smtp.plan(data.destination, 'greylist', 'greylist')
    await Promise.all([publish(kept), publish(lost)])
    const tried = (data: Issued, attempts: number) =>
      eventually(async () => {
        const row = await rowOf(data)
        return row?.attempts === attempts && row.lastError !== null && row.leasedUntil === null
      })
    await Promise.all([tried(kept, 1), tried(lost, 1)])
    fixture.advanceTime({ seconds: 6 })
    await Promise.all([tried(kept, 2), tried(lost, 2)])
    // Its next attempt would be after its expiry.
    fixture.advanceTime({ seconds: 15 })
    const failed = await waitForStatus(lost, 'failed')
    expect(failed.lastError).toBe('The code expired before it could be sent.')
    expect((await rowOf(lost))?.sealedCode).toBeNull()
    expect(fixture.smtp.to(lost.destination)).toEqual([])
    fixture.advanceTime({ seconds: 31 })
    await waitForStatus(kept, 'sent')
    expect(fixture.smtp.to(kept.destination)).toHaveLength(1)
  })

  it('reseals a pending code under the newest key when an operator requests it', async () => {
    const data = newCode('740277')
    fixture.smtp.plan(data.destination, 'greylist')
    await publish(data)
    await eventually(async () => (await rowOf(data))?.lastError)
    const [next, old] = [`next:${Buffer.alloc(32, 7).toString('base64')}`, localSealingKeys]
    const rotating = { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl, CODE_SEALING_KEYS: `${next},${old}` }
    const both = await fixture.bed.start(notifications, rotating)
    const answer = await fetch(`${both.url}/admin/reseal`, { method: 'POST', headers: adminHeaders })
    expect(await answer.json()).toMatchObject({ left: 0, unreadable: 0 })
    const sealed = (await rowOf(data))?.sealedCode ?? ''
    expect(sealingKeysSchema.parse(next).open(sealed, `code:${data.codeId}`)?.toString()).toBe('740277')
    expect((await fetch(`${both.url}/admin/reseal`, { method: 'POST' })).status).toBe(401)
    await both.stop()
  })

  it.each([
    ['other keys', () => sealingKeysSchema.parse(`k9:${Buffer.alloc(32, 9).toString('base64')}`)],
    ['another key with the same id', () => sealingKeysSchema.parse(`local:${Buffer.alloc(32, 9).toString('base64')}`)],
  ])('gives up a code that is sealed with %s, with a clear reason', async (_case, keys) => {
    const codeId = randomUUIDv7()
    const data = newCode('333333', { codeId, sealedCode: keys().seal('333333', `code:${codeId}`) })
    await publish(data)
    const mail = await waitForStatus(data, 'failed')
    expect(mail.lastError).toBe('The code cannot be opened with the keys in CODE_SEALING_KEYS.')
    expect((await rowOf(data))?.sealedCode).toBeNull()
    const event = await fixture.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
    expect(event.data).toMatchObject({ kind: 'code_issued', registrationId: null, reason: mail.lastError })
    const next = newCode('333334')
    await publish(next)
    await waitForStatus(next, 'sent')
  })

  it('does not open a code that was sealed for another id', async () => {
    const data = newCode('444444', { sealedCode: newCode('444445').sealedCode })
    await publish(data)
    await waitForStatus(data, 'failed')
    expect(fixture.smtp.to(data.destination)).toEqual([])
  })

  it('removes a code that a mail server quotes from the recorded error', async () => {
    const data = newCode('608172')
    fixture.smtp.plan(data.destination, 'quote')
    await publish(data)
    const { lastError } = await waitForStatus(data, 'failed')
    const event = await fixture.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
    for (const reason of [lastError, event.data.reason]) {
      expect(reason).toContain('5.7.1 Not this')
      expect(reason).not.toContain('608172')
    }
  })

  it.each([
    ['Maren\r\nBcc: spy@example.net', 'Maren Bcc: spy@example.net'],
    ['Maren\nSubject: hi\u0000', 'Maren Subject: hi'],
    ['Maren\u2028\u2029X-Spy: 1', 'Maren X-Spy: 1'],
    ['\u202eneraM', 'neraM'],
    ['Maren \ud83e', 'Maren \ufffd'],
    ['é'.repeat(300), 'é'.repeat(100)],
    ['張偉', '張偉'],
    ['Zoë Ångström-Łukasiewicz', 'Zoë Ångström-Łukasiewicz'],
    ["D'Arcy & Jo <3", "D'Arcy & Jo <3"],
    ['Ivo 🤖', 'Ivo 🤖'],
  ])('greets %j on one line and adds no header', async (givenName, shown) => {
    const data = newCode('777777', { givenName })
    await publish(data)
    const { raw, parsed, envelope } = await fixture.smtp.mailTo(data.destination)
    expect(parsed.text).toContain(`Hello ${shown},`)
    const headers = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(headers).toMatch(/^[\t\r\n\x20-\x7e]*$/)
    expect(headers).not.toMatch(/^(bcc|x-spy):/im)
    expect(headers.match(/^subject:/gim)).toHaveLength(1)
    expect(envelope.to).toEqual([data.destination])
    const to = Array.isArray(parsed.to) ? parsed.to[0] : parsed.to
    expect(to?.value).toEqual([{ name: shown, address: data.destination }])
  })

  it.each([null, '', ' \n '])('greets without a name if it is %j', async (givenName) => {
    const data = newCode('777778', { givenName })
    await publish(data)
    const { parsed } = await fixture.smtp.mailTo(data.destination)
    expect(parsed.text).toContain('Hello,')
  })

  it.each([
    'maren@example.com\r\nRCPT TO:<spy@example.net>',
    'maren@example.com, spy@example.net',
    '<spy@example.net>',
    'Maren',
    '',
  ])('is not sent to the address %j', async (destination) => {
    const data = newCode('888888', { destination })
    await publish(data)
    const mail = await waitForStatus(data, 'failed')
    expect(mail.lastError).toBe('The recipient is not an email address.')
    expect(fixture.smtp.all().filter(({ envelope }) => envelope.to.some((to) => /spy/.test(to)))).toEqual([])
  })

  it('cannot be resent by an administrator', async () => {
    const data = newCode('999999')
    await publish(data)
    const { mailId } = await waitForStatus(data, 'sent')
    const answer = await fetch(`${fixture.service.url}/mails/${mailId}/resend`, {
      method: 'POST',
      headers: adminHeaders,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'validation_failed',
      message: 'A code is sent once and not kept. Ask for a new code instead.',
    })
    expect((await waitForStatus(data, 'sent')).attempts).toBe(1)
  })

  it('is sent before pending mails', async () => {
    await fixture.smtp.close()
    const { db, clock } = fixture.service.context
    const now = clock.now()
    const waiting = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const userId = randomUUIDv7()
        const recipient = `waiting.${userId}@example.com`
        await db.insert(mails).values({
          id: randomUUIDv7(),
          fact: `user_deleted:${userId}`,
          kind: 'user_deleted',
          userId,
          recipient,
          data: { givenName: '' },
          messageId: `<${userId}@example.com>`,
          nextTryAt: now.add({ hours: 2 }),
          createdAt: now,
        })
        return recipient
      }),
    )
    const code = newCode('121212', { expiresAt: now.add({ hours: 10 }).toString() })
    await publish(code)
    await eventually(async () => (await rowOf(code))?.lastError)
    await fixture.smtp.open()
    fixture.advanceTime({ hours: 3 })
    for (const recipient of waiting) await fixture.smtp.mailTo(recipient)
    const order = fixture.smtp.all().flatMap(({ envelope }) => envelope.to)
    const before = waiting.filter((recipient) => order.indexOf(recipient) < order.indexOf(code.destination))
    // At most those of the same batch.
    expect(before.length).toBeLessThan(5)
  })
})

describe('code.issued by text message', () => {
  it.each(codePurposes)('for %s is posted to the gateway', async (purpose) => {
    const data = newText('407913', { purpose })
    await publish(data)
    const { id, to, text, headers } = await fixture.gateway.textTo(data.destination)
    const mail = await waitForStatus(data, 'sent')
    expect(mail).toMatchObject({ mailId: id, medium: 'SMS', recipient: to, kind: 'code_issued' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': id,
      authorization: 'Bearer sms-token',
    })
    expect(text).toContain('407913')
    expect(text).toContain('1 hour')
    if (purpose !== 'invitation') expect(text.split('\n').at(-1)).toBe('@school.example #407913')
  })

  it('is sent once, however often its events are delivered', async () => {
    const data = newText('121314')
    const event = await publish(data)
    await fixture.bed.bus.republish(event)
    await publish(data)
    await waitForStatus(data, 'sent')
    await fixture.bed.bus.republish(event)
    const last = newText('121315')
    await publish(last)
    await waitForStatus(last, 'sent')
    expect(fixture.gateway.to(data.destination)).toHaveLength(1)
    expect((await rowOf(data))?.sealedCode).toBeNull()
  })

  it.each([500, 503, 408, 429, 302, 'hang', 'drop'] as const)(
    'is retried under the same idempotency key after %s',
    async (fault) => {
      const data = newText('505152')
      fixture.gateway.plan(data.destination, fault)
      await publish(data)
      await eventually(async () => (await rowOf(data))?.lastError)
      expect((await fixture.mailsTo(data.userId))[0]).toMatchObject({
        status: 'pending',
        lastError: expect.stringMatching(/^The SMS gateway (responded \d+|does not respond \(\w+\))\.$/),
      })
      fixture.advanceTime({ seconds: 6 })
      await fixture.gateway.textTo(data.destination, 2)
      expect(await waitForStatus(data, 'sent')).toMatchObject({ attempts: 2, lastError: null })
      const requests = fixture.gateway.to(data.destination)
      expect(requests).toHaveLength(2)
      expect(new Set(requests.map(({ id }) => id)).size).toBe(1)
      expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    },
  )

  it.each([400, 401, 404, 422])(
    'is given up after %s, with an error that does not contain the code',
    async (status) => {
      const data = newText('616263')
      fixture.gateway.plan(data.destination, status)
      await publish(data)
      const mail = await waitForStatus(data, 'failed')
      expect(mail).toMatchObject({ attempts: 1, lastError: `The SMS gateway responded ${status}.` })
      expect((await rowOf(data))?.sealedCode).toBeNull()
      await fixture.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
    },
  )

  it('does not send an expired code', async () => {
    const data = newText('111111', { expiresAt: fixture.service.context.clock.now().toString() })
    await publish(data)
    await waitForStatus(data, 'failed')
    expect(fixture.gateway.to(data.destination)).toEqual([])
  })

  it('does not wait for an unresponsive mail server', async () => {
    const mail = newCode('717273')
    fixture.smtp.plan(mail.destination, 'hang')
    await publish(mail)
    await eventually(() => fixture.smtp.to(mail.destination).length === 1)
    const text = newText('717274')
    await publish(text)
    await fixture.gateway.textTo(text.destination)
    expect((await fixture.mailsTo(mail.userId))[0]).toMatchObject({ status: 'pending', lastError: null })
  })
})

describe('GET /mails', () => {
  it('combines the filters by registration and account', async () => {
    const data = newCode('818283')
    await publish(data)
    await waitForStatus(data, 'sent')
    const query = `userId=${data.userId}&registrationId=${randomUUIDv7()}`
    const answer = await fetch(`${fixture.service.url}/mails?${query}`, { headers: adminHeaders })
    expect(await answer.json()).toEqual({ mails: [] })
  })

  it.each(['?userId=', '?userId=1', '?userId=%00'])('responds 400 to the query %j', async (query) => {
    const answer = await fetch(`${fixture.service.url}/mails${query}`, { headers: adminHeaders })
    expect(answer.status).toBe(400)
  })
})
