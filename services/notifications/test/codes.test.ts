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
import { adminHeaders, openOffice, siteUrl, type NotificationsFixture } from './fixture.ts'

let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

type Issued = ReturnType<typeof issued>

function newCode(code: string, changes: Partial<Issued> = {}): Issued {
  return issued(office.service.context.clock.now(), code, changes)
}

async function publish(data: Issued) {
  return office.bed.bus.publish(codeIssued, data.userId, data)
}

/** The one message to the owner of a code, once it has that status. */
async function reaches({ userId }: Issued, status: Mail['status']): Promise<Mail> {
  return eventually(async () => {
    const [mail, ...others] = await office.mailsTo(userId)
    expect(others).toEqual([])
    return mail?.status === status ? mail : undefined
  })
}

async function rowOf({ userId }: Issued) {
  const [row] = await office.service.context.db.select().from(mails).where(eq(mails.userId, userId))
  return row
}

let phones = 0
/** A phone number of its own: no two tests share one. */
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
    ['sign_up', 'Your code to confirm your Robo Kids Learning account', 'nothing happens in your name'],
    ['attribute', 'Your code to verify your email address', 'ignore this email'],
    ['password_reset', 'Your code for a new password', 'ignore this email'],
    ['sign_in', 'Your code to log in', 'choose a new one'],
    ['invitation', 'Your Robo Kids Learning account', 'ignore this email'],
  ] as const)(
    'for %s says what it is for, how long it is valid and what else to do',
    async (purpose, subject, otherwise) => {
      const data = newCode('907314', { purpose })
      await publish(data)
      const { parsed } = await office.post.mailTo(data.destination)
      expect(parsed.subject).toBe(subject)
      expect(parsed.text?.split('\n')).toContain('907314')
      expect(parsed.html).toMatch(/<code [^>]*>907314<\/code>/)
      for (const part of [parsed.text, parsed.html || '']) {
        expect(part).toContain('It is valid for 1 hour.')
        expect(part).toContain(otherwise)
      }
      expect(parsed.text).toContain('Hello Maren,')
    },
  )

  it.each(codePurposes)('for %s links to one plain page, and nowhere with the code', async (purpose) => {
    const data = newCode('561908', { purpose })
    await publish(data)
    const { parsed } = await office.post.mailTo(data.destination)
    const page = purpose === 'sign_up' ? `${siteUrl}/confirm?email=${encodeURIComponent(data.destination)}` : loginPage
    const links = [...(parsed.html || '').matchAll(/href="([^"]*)"/g)].map(([, link]) => link)
    expect(links).toEqual([page])
    expect(parsed.text?.match(/https?:\S+/g)).toEqual([page])
    expect(parsed.html).not.toMatch(/url\(| src="(?!cid:)/)
    expect(parsed.subject).not.toContain('561908')
  })

  it('for an invitation tells the user name and the temporary password as they are', async () => {
    const data = newCode('<b>&amp;"x"</b> $1', { purpose: 'invitation', username: 'maren & <co>' })
    await publish(data)
    const { parsed } = await office.post.mailTo(data.destination)
    expect(parsed.text).toContain('Temporary password:\n\n<b>&amp;"x"</b> $1\n')
    expect(parsed.text).toContain('User name:\n  maren & <co>\n')
    expect(parsed.html).toContain('>&lt;b&gt;&amp;amp;&quot;x&quot;&lt;/b&gt; $1</code>')
  })

  it('goes out once however often the event and the code come, in whatever order', async () => {
    const [first, second] = [newCode('111222'), newCode('333444')]
    const older = await publish(second)
    const event = await publish(first)
    await office.bed.bus.republish(event)
    await office.bed.bus.republish(older)
    await publish(first)
    for (const data of [first, second]) await reaches(data, 'sent')
    const last = newCode('555666')
    await publish(last)
    await office.bed.bus.republish(event)
    await reaches(last, 'sent')
    for (const data of [first, second, last]) expect(office.post.to(data.destination)).toHaveLength(1)
    const { data } = await office.bed.bus.seen(mailDelivered, ({ userId }) => userId === first.userId)
    expect(data).toMatchObject({ kind: 'code_issued', registrationId: null })
  })

  it('leaves nothing of the code behind once it is sent', async () => {
    const data = newCode('740265')
    await publish(data)
    const mail = await reaches(data, 'sent')
    const row = await rowOf(data)
    expect(row?.sealedCode).toBeNull()
    for (const kept of [JSON.stringify(row), JSON.stringify(mail)]) {
      expect(kept).not.toContain('740265')
      expect(kept).not.toContain(data.sealedCode)
    }
  })

  it('is not shown to administrators while it waits', async () => {
    const data = newCode('740266')
    office.post.plan(data.destination, 'greylist')
    await publish(data)
    await eventually(async () => (await rowOf(data))?.lastError)
    expect((await rowOf(data))?.sealedCode).toBe(data.sealedCode)
    const answer = await fetch(`${office.service.url}/mails?userId=${data.userId}`, { headers: adminHeaders })
    const body = await answer.text()
    expect(body).toContain('Greylisted')
    expect(body).not.toContain('740266')
    expect(body).not.toContain(data.sealedCode)
  })

  it('that has expired is not sent any more', async () => {
    const data = newCode('111111', {
      expiresAt: office.service.context.clock.now().subtract({ seconds: 1 }).toString(),
    })
    await publish(data)
    const mail = await reaches(data, 'failed')
    expect(mail.lastError).toBe('The code expired before it could be sent.')
    expect((await rowOf(data))?.sealedCode).toBeNull()
    expect(office.post.to(data.destination)).toEqual([])
  })

  it('is tried again while it is valid, and given up when it expires', async () => {
    const kept = newCode('222111')
    const soon = office.service.context.clock.now().add({ seconds: 20 }).toString()
    const lost = newCode('222222', { expiresAt: soon })
    for (const data of [kept, lost]) office.post.plan(data.destination, 'greylist', 'greylist')
    await Promise.all([publish(kept), publish(lost)])
    const tried = (data: Issued, attempts: number) =>
      eventually(async () => {
        const row = await rowOf(data)
        return row?.attempts === attempts && row.lastError !== null && row.leasedUntil === null
      })
    await Promise.all([tried(kept, 1), tried(lost, 1)])
    office.passTime({ seconds: 6 })
    await Promise.all([tried(kept, 2), tried(lost, 2)])
    // Its next try would be beyond its end.
    office.passTime({ seconds: 15 })
    const failed = await reaches(lost, 'failed')
    expect(failed.lastError).toBe('The code expired before it could be sent.')
    expect((await rowOf(lost))?.sealedCode).toBeNull()
    expect(office.post.to(lost.destination)).toEqual([])
    office.passTime({ seconds: 31 })
    await reaches(kept, 'sent')
    expect(office.post.to(kept.destination)).toHaveLength(1)
  })

  it('that waits under an older key is sealed anew by an operator, and sent once that key is gone', async () => {
    const data = newCode('740277')
    office.post.plan(data.destination, 'greylist')
    await publish(data)
    await eventually(async () => (await rowOf(data))?.lastError)
    const [next, old] = [`next:${Buffer.alloc(32, 7).toString('base64')}`, localSealingKeys]
    const rotating = { ...office.env, DATABASE_URL: office.service.databaseUrl, CODE_SEALING_KEYS: `${next},${old}` }
    const both = await office.bed.start(notifications, rotating)
    const answer = await fetch(`${both.url}/admin/reseal`, { method: 'POST', headers: adminHeaders })
    expect(await answer.json()).toMatchObject({ left: 0, unreadable: 0 })
    const sealed = (await rowOf(data))?.sealedCode ?? ''
    expect(sealingKeysSchema.parse(next).open(sealed, `code:${data.codeId}`)?.toString()).toBe('740277')
    expect((await fetch(`${both.url}/admin/reseal`, { method: 'POST' })).status).toBe(401)
    await both.stop()
  })

  it.each([
    ['other keys', () => sealingKeysSchema.parse(`k9:${Buffer.alloc(32, 9).toString('base64')}`)],
    ['a key of the same name', () => sealingKeysSchema.parse(`local:${Buffer.alloc(32, 9).toString('base64')}`)],
  ])('that is sealed with %s is given up with a clear reason', async (_case, keys) => {
    const codeId = randomUUIDv7()
    const data = newCode('333333', { codeId, sealedCode: keys().seal('333333', `code:${codeId}`) })
    await publish(data)
    const mail = await reaches(data, 'failed')
    expect(mail.lastError).toBe('The code cannot be opened with the keys in CODE_SEALING_KEYS.')
    expect((await rowOf(data))?.sealedCode).toBeNull()
    const event = await office.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
    expect(event.data).toMatchObject({ kind: 'code_issued', registrationId: null, reason: mail.lastError })
    const next = newCode('333334')
    await publish(next)
    await reaches(next, 'sent')
  })

  it('that was sealed for another code is not opened', async () => {
    const data = newCode('444444', { sealedCode: newCode('444445').sealedCode })
    await publish(data)
    await reaches(data, 'failed')
    expect(office.post.to(data.destination)).toEqual([])
  })

  it('that a mail server quotes in its refusal is in no reason', async () => {
    const data = newCode('608172')
    office.post.plan(data.destination, 'quote')
    await publish(data)
    const { lastError } = await reaches(data, 'failed')
    const event = await office.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
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
  ])('greets %j on one line, and adds no header', async (givenName, shown) => {
    const data = newCode('777777', { givenName })
    await publish(data)
    const { raw, parsed, envelope } = await office.post.mailTo(data.destination)
    expect(parsed.text).toContain(`Hello ${shown},`)
    const headers = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(headers).toMatch(/^[\t\r\n\x20-\x7e]*$/)
    expect(headers).not.toMatch(/^(bcc|x-spy):/im)
    expect(headers.match(/^subject:/gim)).toHaveLength(1)
    expect(envelope.to).toEqual([data.destination])
    const to = Array.isArray(parsed.to) ? parsed.to[0] : parsed.to
    expect(to?.value).toEqual([{ name: shown, address: data.destination }])
  })

  it.each([null, '', ' \n '])('greets a person whose name is %j without one', async (givenName) => {
    const data = newCode('777778', { givenName })
    await publish(data)
    const { parsed } = await office.post.mailTo(data.destination)
    expect(parsed.text).toContain('Hello,')
  })

  it.each([
    'maren@example.com\r\nRCPT TO:<spy@example.net>',
    'maren@example.com, spy@example.net',
    '<spy@example.net>',
    'Maren',
    '',
  ])('for the address %j goes to nobody', async (destination) => {
    const data = newCode('888888', { destination })
    await publish(data)
    const mail = await reaches(data, 'failed')
    expect(mail.lastError).toBe('The recipient is not an email address.')
    expect(office.post.all().filter(({ envelope }) => envelope.to.some((to) => /spy/.test(to)))).toEqual([])
  })

  it('is not sent again by an administrator', async () => {
    const data = newCode('999999')
    await publish(data)
    const { mailId } = await reaches(data, 'sent')
    const answer = await fetch(`${office.service.url}/mails/${mailId}/resend`, {
      method: 'POST',
      headers: adminHeaders,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'validation_failed',
      message: 'A code is sent once and not kept. Ask for a new code instead.',
    })
    expect((await reaches(data, 'sent')).attempts).toBe(1)
  })

  it('overtakes mails that can wait', async () => {
    await office.post.close()
    const { db, clock } = office.service.context
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
    await office.post.open()
    office.passTime({ hours: 3 })
    for (const recipient of waiting) await office.post.mailTo(recipient)
    const order = office.post.all().flatMap(({ envelope }) => envelope.to)
    const before = waiting.filter((recipient) => order.indexOf(recipient) < order.indexOf(code.destination))
    // At most those of its own batch.
    expect(before.length).toBeLessThan(5)
  })
})

describe('code.issued by text message', () => {
  it.each(codePurposes)('for %s posts it to the gateway', async (purpose) => {
    const data = newText('407913', { purpose })
    await publish(data)
    const { id, to, text, headers } = await office.gateway.textTo(data.destination)
    const mail = await reaches(data, 'sent')
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

  it('goes out once however often the event and the code come', async () => {
    const data = newText('121314')
    const event = await publish(data)
    await office.bed.bus.republish(event)
    await publish(data)
    await reaches(data, 'sent')
    await office.bed.bus.republish(event)
    const last = newText('121315')
    await publish(last)
    await reaches(last, 'sent')
    expect(office.gateway.to(data.destination)).toHaveLength(1)
    expect((await rowOf(data))?.sealedCode).toBeNull()
  })

  it.each([500, 503, 408, 429, 302, 'hang', 'drop'] as const)(
    'is tried again under the same key after %s',
    async (answer) => {
      const data = newText('505152')
      office.gateway.plan(data.destination, answer)
      await publish(data)
      await eventually(async () => (await rowOf(data))?.lastError)
      expect((await office.mailsTo(data.userId))[0]).toMatchObject({
        status: 'pending',
        lastError: expect.stringMatching(/^The gateway for text messages (answered \d+|does not answer \(\w+\))\.$/),
      })
      office.passTime({ seconds: 6 })
      await office.gateway.textTo(data.destination, 2)
      expect(await reaches(data, 'sent')).toMatchObject({ attempts: 2, lastError: null })
      const requests = office.gateway.to(data.destination)
      expect(requests).toHaveLength(2)
      expect(new Set(requests.map(({ id }) => id)).size).toBe(1)
      expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    },
  )

  it.each([400, 401, 404, 422])('is given up after %s, which is told without the code', async (status) => {
    const data = newText('616263')
    office.gateway.plan(data.destination, status)
    await publish(data)
    const mail = await reaches(data, 'failed')
    expect(mail).toMatchObject({ attempts: 1, lastError: `The gateway for text messages answered ${status}.` })
    expect((await rowOf(data))?.sealedCode).toBeNull()
    await office.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId)
  })

  it('that has expired is not sent any more', async () => {
    const data = newText('111111', { expiresAt: office.service.context.clock.now().toString() })
    await publish(data)
    await reaches(data, 'failed')
    expect(office.gateway.to(data.destination)).toEqual([])
  })

  it('does not wait for a mail server that does not answer', async () => {
    const mail = newCode('717273')
    office.post.plan(mail.destination, 'hang')
    await publish(mail)
    await eventually(() => office.post.to(mail.destination).length === 1)
    const text = newText('717274')
    await publish(text)
    await office.gateway.textTo(text.destination)
    expect((await office.mailsTo(mail.userId))[0]).toMatchObject({ status: 'pending', lastError: null })
  })
})

describe('GET /mails', () => {
  it('finds by registration and account together', async () => {
    const data = newCode('818283')
    await publish(data)
    await reaches(data, 'sent')
    const query = `userId=${data.userId}&registrationId=${randomUUIDv7()}`
    const answer = await fetch(`${office.service.url}/mails?${query}`, { headers: adminHeaders })
    expect(await answer.json()).toEqual({ mails: [] })
  })

  it.each(['?userId=', '?userId=1', '?userId=%00'])('answers 400 for %j', async (query) => {
    const answer = await fetch(`${office.service.url}/mails${query}`, { headers: adminHeaders })
    expect(answer.status).toBe(400)
  })
})
