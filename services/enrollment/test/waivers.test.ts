import { createHash, randomUUIDv7 } from 'node:crypto'
import { subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
import { memberCreditChanged } from '@robokids/contracts/member-classes'
import {
  kitReady,
  kitShipped,
  memberSeatSchema,
  waiverDocumentSchema,
  waiverSchema,
  waiverSigned,
  type Registration,
} from '@robokids/contracts/enrollment'
import { userConfirmed, userUpdated } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/iso-time.ts'
import { kitShipments, waivers } from '../src/schema.ts'
import { signableDocuments } from '../src/waivers/waiver-document.ts'
import { adminHeaders, codeOf, startEnrollment, pathsOf, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

async function documentSha256(): Promise<string> {
  const answer = await fetch(`${fixture.service.url}/waiver.pdf`)
  return answer.headers.get('x-document-sha256') ?? ''
}

function expire(registrationId: string) {
  return fixture.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
}

/** Expects that nothing was signed, published or made ready for the registration. */
async function expectUnsigned({ registrationId }: Registration): Promise<void> {
  expect(await fixture.db.$count(waivers, eq(waivers.registrationId, registrationId))).toBe(0)
  expect(await fixture.db.$count(kitShipments, eq(kitShipments.registrationId, registrationId))).toBe(0)
  expect(await fixture.publishedEvents(waiverSigned, registrationId)).toEqual([])
  expect(await fixture.publishedEvents(kitReady, registrationId)).toEqual([])
}

describe('GET /waiver.pdf', () => {
  it('serves the document with its hash, and 304 if the client has it', async () => {
    const answer = await fetch(`${fixture.service.url}/waiver.pdf`)
    const pdf = new Uint8Array(await answer.arrayBuffer())
    const sha256 = createHash('sha256').update(pdf).digest('hex')
    expect(answer.status).toBe(200)
    expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': 'inline; filename="waiver.pdf"',
      'content-length': String(pdf.byteLength),
      'x-document-sha256': sha256,
      etag: `"${sha256}"`,
    })
    for (const known of [`"${sha256}"`, `W/"${sha256}"`, `"other", "${sha256}"`, '*']) {
      const again = await fetch(`${fixture.service.url}/waiver.pdf`, { headers: { 'if-none-match': known } })
      expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
    }
    const other = await fetch(`${fixture.service.url}/waiver.pdf`, { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })
})

describe('GET /waiver-document', () => {
  it('serves the words of the document with its hash', async () => {
    const { status, body } = await fixture.call('GET', '/waiver-document')
    expect(status).toBe(200)
    const { sha256, blocks } = waiverDocumentSchema.parse(body)
    expect(sha256).toBe(await documentSha256())
    expect(blocks.filter(({ kind }) => kind === 'heading').map(({ lines }) => lines[0])).toContain(
      '13. Your electronic signature',
    )
  })
})

describe('POST /waivers', () => {
  it('records the signature with its evidence and the signed PDF, and makes the kit ready', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const { registrationId } = registration
    const sha256 = await documentSha256()
    const answer = await fixture.sign(registration, { documentSha256: sha256 })
    expect(answer.status).toBe(200)
    const waiver = waiverSchema.parse(answer.body)
    expect(waiver).toMatchObject({ registrationId, documentSha256: sha256 })
    const { waiverId, signedAt } = waiver
    expect(await fixture.read(registrationId)).toMatchObject({
      status: 'waiver_signed',
      waiver: { waiverId, signedAt, documentSha256: sha256 },
      kit: { status: 'ready' },
    })
    const [evidence] = await fixture.db.select().from(waivers).where(eq(waivers.registrationId, registrationId))
    expect(evidence).toMatchObject({
      id: waiverId,
      documentSha256: sha256,
      guardianName: 'Maren Holt',
      ipAddress: '198.51.100.7',
      userAgent: 'Mozilla/5.0 (a test)',
    })
    expect(evidence?.signedAt.toString({ fractionalSecondDigits: 3 })).toBe(signedAt)

    const event = await fixture.bus.seen(waiverSigned, (data) => data.registrationId === registrationId)
    expect(event.data).toMatchObject({
      waiverId,
      signedAt,
      documentSha256: sha256,
      signedPdfPath: `/waivers/${waiverId}.pdf`,
    })
    await fixture.bus.seen(kitReady, (data) => data.registrationId === registrationId)
    const pdf = await fetch(`${fixture.service.url}${event.data.signedPdfPath}`)
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    const bytes = Buffer.from(await pdf.arrayBuffer())
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    const [kept] = await fixture.db.select().from(waivers).where(eq(waivers.registrationId, registrationId))
    expect(bytes).toEqual(Buffer.from(kept?.signedPdf ?? []))
  })

  it('records one signature for five concurrent requests, and returns the same to all', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const answers = await Promise.all(Array.from({ length: 5 }, () => fixture.sign(registration)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
    const { registrationId } = registration
    expect(await fixture.db.$count(waivers, eq(waivers.registrationId, registrationId))).toBe(1)
    expect(await fixture.waitForEvents(waiverSigned, registrationId)).toHaveLength(1)
    expect(await fixture.publishedEvents(kitReady, registrationId)).toHaveLength(1)
  })

  it('returns the same when repeated, and 409 waiver_already_signed for another signer', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const first = await fixture.sign(registration)
    const before = await fixture.read(registration.registrationId)
    expect(
      await fixture.sign(registration, { guardianName: ' Maren Holt ', email: 'MAREN.HOLT@example.com' }),
    ).toMatchObject({
      status: 200,
      body: first.body,
    })
    for (const difference of [{ guardianName: 'Someone Else' }, { documentSha256: '0'.repeat(64) }]) {
      const answer = await fixture.sign(registration, difference)
      expect([answer.status, codeOf(answer)]).toEqual([409, 'waiver_already_signed'])
    }
    const withoutReference = await fixture.sign(registration, {
      guardianName: 'Someone Else',
      registrationId: undefined,
    })
    expect(withoutReference.status).toBeGreaterThanOrEqual(400)
    expect(await fixture.read(registration.registrationId)).toEqual(before)
    expect(await fixture.waitForEvents(waiverSigned, registration.registrationId)).toHaveLength(1)
  })

  it('covers all children of the registration, whichever of them is named', async () => {
    const registration = await fixture.enroll(await fixture.session(), {
      siblings: [{ childName: 'Noa', childAge: 7 }],
    })
    const first = await fixture.sign(registration, { childName: 'Noa' })
    expect(first.status).toBe(200)
    expect(await fixture.sign(registration)).toMatchObject({ status: 200, body: first.body })
    expect(await fixture.publishedEvents(kitReady, registration.registrationId)).toHaveLength(1)
  })

  it('answers 409 registration_not_paid with a message unless it is paid', async () => {
    const held = await fixture.hold(await fixture.session())
    const expired = await fixture.hold(await fixture.session())
    await expire(expired.registrationId)
    const crowded = await fixture.session({ capacity: 1 })
    const rejected = await fixture.hold(crowded)
    await expire(rejected.registrationId)
    await fixture.enroll(crowded)
    await fixture.pay(rejected.registrationId)
    await fixture.waitForStatus(rejected.registrationId, 'rejected')
    const refunded = await fixture.enroll(await fixture.session())
    await fixture.refund(refunded, refunded.payment?.paymentId ?? '')
    await fixture.waitForStatus(refunded.registrationId, 'cancelled')
    for (const registration of [held, expired, rejected, refunded]) {
      const answer = await fixture.sign(registration)
      expect([answer.status, codeOf(answer)]).toEqual([409, 'registration_not_paid'])
      expect((answer.body as { message: string }).message).toMatch(/^This registration .*\.$/)
      await expectUnsigned(registration)
    }
    expect(await fixture.sign(held)).toMatchObject({
      body: { message: 'This registration is not paid yet. Please complete the payment before you sign the waiver.' },
    })
  })

  it('is rejected after a refund, as is shipping the kit', async () => {
    const registration = await fixture.enroll(await fixture.session())
    await fixture.sign(registration)
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    await fixture.waitForStatus(registration.registrationId, 'cancelled')
    expect(codeOf(await fixture.sign(registration))).toBe('registration_not_paid')
    const kit = { carrier: 'UPS', trackingNumber: '1Z' }
    const shipped = await fixture.call('POST', `/kits/${registration.registrationId}/ship`, kit, adminHeaders)
    expect([shipped.status, codeOf(shipped)]).toEqual([409, 'kit_not_ready'])
    expect(await fixture.publishedEvents(kitShipped, registration.registrationId)).toEqual([])
  })

  it('without a reference signs the paid registration of that family, child, date and class', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const session = await fixture.session()
    const held = await fixture.hold(session, { email })
    const other = await fixture.enroll(session)
    const paid = await fixture.enroll(session, { email })
    const later = await fixture.hold(session, { email })
    const answer = await fixture.sign(paid, { registrationId: undefined, email: email.toUpperCase() })
    expect(answer).toMatchObject({ status: 200, body: { registrationId: paid.registrationId } })
    for (const registration of [held, other, later]) await expectUnsigned(registration)
    // Repeating it returns that signature, and never signs the held one.
    expect(await fixture.sign(paid, { registrationId: undefined })).toMatchObject({ status: 200, body: answer.body })
  })

  it('without a reference and date signs the oldest that is paid and unsigned', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const first = await fixture.enroll(await fixture.session(), { email })
    const second = await fixture.enroll(await fixture.session(), { email })
    const bare = { registrationId: undefined, startDate: '' }
    expect(await fixture.sign(first, bare)).toMatchObject({ body: { registrationId: first.registrationId } })
    expect(await fixture.sign(first, bare)).toMatchObject({ body: { registrationId: second.registrationId } })
  })

  it('without a reference answers 409 if none is paid, 404 if none matches', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const held = await fixture.hold(await fixture.session(), { email })
    const bare = { registrationId: undefined }
    expect(codeOf(await fixture.sign(held, bare))).toBe('registration_not_paid')
    for (const difference of [
      { childName: 'Noa' },
      { classType: 'custom' },
      { startDate: '2031-01-01' },
      { email: 'x@example.com' },
    ]) {
      const answer = await fixture.sign(held, { ...bare, ...difference })
      expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
    }
    await expectUnsigned(held)
  })

  it('with a reference to another family’s registration answers 404', async () => {
    const theirs = await fixture.enroll(await fixture.session())
    for (const difference of [
      { email: 'other@example.com' },
      { childName: 'Noa' },
      { classType: 'advanced' },
      { startDate: '2031-01-01' },
      { guardianName: 'Someone Else' },
      { registrationId: randomUUIDv7() },
    ]) {
      const answer = await fixture.sign(theirs, difference)
      expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
    }
    await expectUnsigned(theirs)
    expect((await fixture.read(theirs.registrationId)).status).toBe('confirmed')
  })

  it('accepts an older document with the same words', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const [today, before] = signableDocuments()
    expect(before).not.toBe(today)
    const answer = await fixture.sign(registration, { documentSha256: before })
    expect(answer).toMatchObject({ status: 200, body: { documentSha256: before } })
    const event = await fixture.bus.seen(waiverSigned, (data) => data.registrationId === registration.registrationId)
    expect(event.data.documentSha256).toBe(before)
  })

  it('answers 409 waiver_document_changed if the signer was shown another document', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const answer = await fixture.sign(registration, { documentSha256: 'f'.repeat(64) })
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'waiver_document_changed', message: 'The waiver was updated. Please read it again.' },
    })
    await expectUnsigned(registration)
  })

  it('stores unusual names and accepts them in either Unicode form', async () => {
    for (const name of [
      'Zo\u00eb \u00c5ngstr\u00f6m',
      'Nguyễn Thị Ánh',
      '张伟',
      'עדי לוי',
      'محمد',
      "D'Arcy & Jo <3",
      'Ivo 🤖',
    ]) {
      const registration = await fixture.enroll(await fixture.session(), { guardianName: name, childName: name })
      const decomposed = name.normalize('NFD')
      const answer = await fixture.sign(registration, { guardianName: decomposed, childName: decomposed })
      expect(answer.status).toBe(200)
      const [evidence] = await fixture.db
        .select()
        .from(waivers)
        .where(eq(waivers.registrationId, registration.registrationId))
      expect(evidence?.guardianName).toBe(name)
    }
  })

  it.each([
    ['no name', { guardianName: '' }, 'guardianName'],
    ['a name with NUL', { guardianName: 'Ma\u0000ren' }, 'guardianName'],
    ['no email', { email: undefined }, 'email'],
    ['an unknown class', { classType: 'expert' }, 'classType'],
    ['a date that does not exist', { startDate: '2027-02-30' }, 'startDate'],
    ['a hash of 63 digits', { documentSha256: 'f'.repeat(63) }, 'documentSha256'],
    ['a reference that is no id', { registrationId: 'maren' }, 'registrationId'],
    ['no evidence', { evidence: undefined }, 'evidence'],
  ])('answers 400 for %s', async (_, difference, path) => {
    const registration = await fixture.enroll(await fixture.session())
    const answer = await fixture.sign(registration, difference)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    expect(pathsOf(answer)).toContain(path)
    await expectUnsigned(registration)
  })
})

describe('POST /waivers of a membership', () => {
  async function member(session?: Awaited<ReturnType<EnrollmentFixture['session']>>) {
    const { date } = session ?? (await fixture.session({ classType: 'membership' }))
    const membershipId = randomUUIDv7()
    const facts = {
      attemptId: membershipId,
      email: 'maren.holt@example.com',
      plan: 'monthly' as const,
      amount: 700,
      currency: 'usd' as const,
    }
    await fixture.deliver(subscriptionActivated, membershipId, {
      ...facts,
      classDate: date,
      subscriptionId: `sub_${membershipId}`,
      customerId: 'cus_1',
      activatedAt: isoTime(Temporal.Now.instant()),
      familyTimeZone: 'Europe/Berlin',
    })
    return { ...facts, membershipId, date }
  }
  type Member = Awaited<ReturnType<typeof member>>

  const sign = ({ membershipId, email, date }: Member, differences: Record<string, unknown> = {}) =>
    fixture.call('POST', '/waivers', {
      registrationId: membershipId,
      guardianName: 'Maren Holt',
      childName: 'Ivo',
      childAge: 9,
      email,
      startDate: date,
      classType: 'membership',
      evidence: { ipAddress: '198.51.100.7', userAgent: 'Mozilla/5.0 (a test)' },
      ...differences,
    })
  const seatOf = async ({ membershipId }: Member) =>
    memberSeatSchema.parse((await fixture.call('GET', `/member-seats/${membershipId}`)).body)
  const evidenceOf = ({ membershipId }: Member) =>
    fixture.db.select().from(waivers).where(eq(waivers.membershipId, membershipId))

  it('records one signature for five concurrent requests, with its evidence and the signed PDF, but no kit', async () => {
    const one = await member()
    const { membershipId, date } = one
    expect(await seatOf(one)).toEqual({
      membershipId,
      status: 'seated',
      classDate: date,
      startTime: '16:00',
      waiverSignedAt: null,
    })
    const sha256 = await documentSha256()
    const address = { addressLine1: '14 Alder Way', addressLine2: '', city: 'Cambridge', state: 'MA', zipCode: '02139' }
    const details = { documentSha256: sha256, address }
    const answers = await Promise.all(Array.from({ length: 5 }, () => sign(one, details)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
    const waiver = waiverSchema.parse(answers[0]?.body)
    expect(waiver).toMatchObject({ registrationId: membershipId, documentSha256: sha256 })
    const [evidence, ...more] = await evidenceOf(one)
    expect(more).toEqual([])
    expect(evidence).toMatchObject({
      id: waiver.waiverId,
      registrationId: null,
      member: { email: one.email, children: [{ childName: 'Ivo', childAge: 9 }], address },
      documentSha256: sha256,
      guardianName: 'Maren Holt',
      ipAddress: '198.51.100.7',
    })
    const [event, ...others] = await fixture.waitForEvents(waiverSigned, membershipId)
    expect(others).toEqual([])
    expect(event).toMatchObject({
      ...waiver,
      classType: 'membership',
      startDate: date,
      startTime: '16:00',
      familyTimeZone: 'Europe/Berlin',
      children: [{ childName: 'Ivo', childAge: 9 }],
    })
    expect(await fixture.publishedEvents(kitReady, membershipId)).toEqual([])
    const pdf = await fetch(`${fixture.service.url}${event?.signedPdfPath}`)
    const [kept] = await evidenceOf(one)
    expect(Buffer.from(await pdf.arrayBuffer())).toEqual(Buffer.from(kept?.signedPdf ?? []))
    expect((await seatOf(one)).waiverSignedAt).toBe(waiver.signedAt)
  })

  it('returns the same when repeated, and 409 waiver_already_signed for another guardian or child', async () => {
    const one = await member()
    const first = await sign(one)
    expect(await sign(one, { guardianName: ' Maren Holt ', startDate: '' })).toMatchObject({
      status: 200,
      body: first.body,
    })
    for (const difference of [{ guardianName: 'Someone Else' }, { childName: 'Noa' }]) {
      expect(codeOf(await sign(one, difference))).toBe('waiver_already_signed')
    }
    expect(await evidenceOf(one)).toHaveLength(1)
    expect(await fixture.waitForEvents(waiverSigned, one.membershipId)).toHaveLength(1)
  })

  it('is rejected without the id, or if the membership is unknown, has no seat, or has ended without one, and stores nothing', async () => {
    const crowded = await fixture.session({ classType: 'membership', capacity: 1 })
    await member(crowded)
    const refused = await member(crowded)
    const ended = await member()
    const { attemptId, email, plan, amount, currency } = ended
    const over = { attemptId, email, plan, amount, currency, endedAt: isoTime(Temporal.Now.instant()) }
    await fixture.deliver(subscriptionEnded, attemptId, { ...over, reason: 'cancelled' })
    // Its class stays, until the payment goes back.
    expect((await seatOf(ended)).status).toBe('seated')
    await fixture.deliver(memberCreditChanged, attemptId, {
      creditId: randomUUIDv7(),
      membershipId: attemptId,
      email,
      ownerId: null,
      paymentId: randomUUIDv7(),
      month: '2030-01-01',
      isFirst: true,
      withdrawn: 'refunded',
      version: 1,
    })
    const one = await member()
    const wrong: [Member, Record<string, unknown>, number, string][] = [
      [one, { registrationId: undefined }, 404, 'registration_not_found'],
      [one, { registrationId: randomUUIDv7() }, 404, 'registration_not_found'],
      [one, { startDate: '2031-01-01' }, 404, 'registration_not_found'],
      [one, { documentSha256: 'f'.repeat(64) }, 409, 'waiver_document_changed'],
      [refused, {}, 409, 'registration_not_paid'],
      [ended, {}, 409, 'registration_not_paid'],
    ]
    for (const [which, difference, status, code] of wrong) {
      const answer = await sign(which, difference)
      expect([answer.status, codeOf(answer)]).toEqual([status, code])
    }
    for (const [path, difference] of Object.entries({
      childAge: { childAge: undefined },
      childName: { childName: ' ' },
      city: { address: { addressLine1: '', addressLine2: '', city: 'x'.repeat(101), state: '', zipCode: '' } },
    })) {
      const answer = await sign(one, difference)
      expect([answer.status, pathsOf(answer)]).toEqual([400, [path]])
    }
    expect(pathsOf(await sign(one, { childAge: 4 }))).toEqual(['childAge'])
    for (const which of [one, refused, ended]) {
      expect(await evidenceOf(which)).toEqual([])
      expect(await fixture.publishedEvents(waiverSigned, which.membershipId)).toEqual([])
    }
    expect([(await seatOf(refused)).status, (await seatOf(ended)).status]).toEqual(['refused', 'released'])
    expect((await fixture.call('GET', `/member-seats/${randomUUIDv7()}`)).status).toBe(404)
    // A membership's id is not accepted as a registration's.
    expect(codeOf(await sign(one, { classType: 'basic' }))).toBe('registration_not_found')
  })
})

describe('a signature by somebody who knows a membership’s id', () => {
  async function member() {
    const { date } = await fixture.session({ classType: 'membership' })
    const userId = randomUUIDv7()
    const email = `${userId}@example.com`
    const named = { poolId: 'pool', username: userId, givenName: null }
    const account = { ...named, userId, email, emailVerified: true, verifiedEmail: email, enabled: true }
    await fixture.deliver(userConfirmed, userId, account)
    const membershipId = randomUUIDv7()
    await fixture.deliver(subscriptionActivated, membershipId, {
      attemptId: membershipId,
      email,
      plan: 'monthly',
      amount: 700,
      currency: 'usd',
      ownerId: userId,
      classDate: date,
      subscriptionId: `sub_${membershipId}`,
      customerId: 'cus_1',
      activatedAt: isoTime(Temporal.Now.instant()),
    })
    return { membershipId, email, userId, account }
  }
  type Member = Awaited<ReturnType<typeof member>>

  const sign = ({ membershipId }: Member, differences: Record<string, unknown> = {}) =>
    fixture.call('POST', '/waivers', {
      registrationId: membershipId,
      guardianName: 'Maren Holt',
      childName: 'Ivo',
      childAge: 9,
      classType: 'membership',
      evidence: { ipAddress: '198.51.100.7', userAgent: 'Mozilla/5.0 (a test)' },
      ...differences,
    })
  const mallory = { guardianName: 'Mallory', childName: 'Nobody', email: 'mallory@example.com' }
  const seat = async ({ membershipId }: Member, query = '') =>
    memberSeatSchema.parse((await fixture.call('GET', `/member-seats/${membershipId}${query}`)).body)
  const evidenceOf = ({ membershipId }: Member) =>
    fixture.db.select().from(waivers).where(eq(waivers.membershipId, membershipId)).orderBy(asc(waivers.id))

  it('is mailed to the membership’s email, whatever email is given', async () => {
    const one = await member()
    expect((await sign(one, mallory)).status).toBe(200)
    const [event] = await fixture.waitForEvents(waiverSigned, one.membershipId)
    expect(event).toMatchObject({ guardianName: 'Mallory', email: one.email })
    const [kept] = await evidenceOf(one)
    expect(kept?.member).toMatchObject({ email: one.email })
  })

  it('is mailed to the current email of the membership’s account', async () => {
    const one = await member()
    const email = `moved.${one.email}`
    await fixture.deliver(userUpdated, one.userId, {
      ...one.account,
      email,
      verifiedEmail: email,
      changed: ['email'],
      previousEmail: one.email,
    })
    await sign(one)
    expect(await fixture.waitForEvents(waiverSigned, one.membershipId)).toMatchObject([{ email }])
  })

  it('can be replaced by the member’s own, and both are kept', async () => {
    const one = await member()
    const wrong = waiverSchema.parse((await sign(one, mallory)).body)
    const own = { ownerId: one.userId, replaces: wrong.waiverId }
    expect(await seat(one, `?ownerId=${one.userId}`)).toMatchObject({
      signed: { waiverId: wrong.waiverId, guardianName: 'Mallory', childNames: ['Nobody'] },
    })
    const answers = await Promise.all(Array.from({ length: 3 }, () => sign(one, own)))
    const right = waiverSchema.parse(answers[0]?.body)
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { waiverId: right.waiverId } })
    expect(right.waiverId).not.toBe(wrong.waiverId)
    expect(await evidenceOf(one)).toMatchObject([
      { id: wrong.waiverId, guardianName: 'Mallory', ipAddress: '198.51.100.7', replacedBy: right.waiverId },
      { id: right.waiverId, guardianName: 'Maren Holt', replacedBy: null },
    ])
    const events = await eventually(async () => {
      const all = await fixture.publishedEvents(waiverSigned, one.membershipId)
      return all.length === 2 && all
    })
    expect(events.find(({ waiverId }) => waiverId === right.waiverId)).toMatchObject({ replaces: wrong.waiverId })
    // A late request that names the old one is rejected.
    expect(codeOf(await sign(one, { ...mallory, ...own }))).toBe('waiver_already_signed')
    expect(await seat(one, `?ownerId=${one.userId}`)).toMatchObject({ signed: { waiverId: right.waiverId } })
  })

  it('can be replaced ten times a day, and again the next day', async () => {
    const one = await member()
    const again = async (nth: number, replaces?: string) => {
      const request = { guardianName: `Maren ${nth}`, ownerId: one.userId, ...(replaces ? { replaces } : {}) }
      return sign(one, request)
    }
    let last: string | undefined
    for (let nth = 0; nth < 10; nth += 1) last = waiverSchema.parse((await again(nth, last)).body).waiverId
    const refused = await again(10, last)
    expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited'])
    // Repeating an existing signature still works.
    expect((await again(9)).body).toMatchObject({ waiverId: last })
    fixture.service.context.clock.advance({ hours: 25 })
    expect((await again(10, last)).status).toBe(200)
    fixture.resetClock()
    expect(await evidenceOf(one)).toHaveLength(11)
  })

  it('cannot be replaced by or shown to anybody else', async () => {
    const one = await member()
    const { waiverId } = waiverSchema.parse((await sign(one)).body)
    for (const requester of [{}, { ownerId: randomUUIDv7() }, { ownerId: null }]) {
      const answer = await sign(one, { ...mallory, ...requester, replaces: waiverId })
      expect([answer.status, codeOf(answer)]).toEqual([409, 'waiver_already_signed'])
    }
    // Nor by its member without naming the signature to replace.
    expect(codeOf(await sign(one, { ...mallory, ownerId: one.userId }))).toBe('waiver_already_signed')
    expect(await seat(one)).not.toHaveProperty('signed')
    expect(await seat(one, `?ownerId=${randomUUIDv7()}`)).not.toHaveProperty('signed')
    expect(await evidenceOf(one)).toHaveLength(1)
  })
})

describe('GET /waivers/:id.pdf', () => {
  it('answers 404 for an unknown id, 400 for an invalid one', async () => {
    expect((await fixture.call('GET', `/waivers/${randomUUIDv7()}.pdf`)).status).toBe(404)
    expect((await fixture.call('GET', '/waivers/maren.pdf')).status).toBe(400)
  })
})

describe('POST /kits/:id/ship', () => {
  const ship = (registration: Registration, body: unknown, headers: Record<string, string> = adminHeaders) =>
    fixture.call('POST', `/kits/${registration.registrationId}/ship`, body, headers)
  const parcel = { carrier: 'UPS', trackingNumber: '1Z999AA10123456784' }

  it('needs the admin secret', async () => {
    const registration = await fixture.enroll(await fixture.session())
    expect(codeOf(await ship(registration, parcel, {}))).toBe('admin_secret_invalid')
  })

  it('publishes kit.shipped once, and rejects another tracking number', async () => {
    const registration = await fixture.enroll(await fixture.session())
    await fixture.sign(registration)
    const answers = await Promise.all(Array.from({ length: 3 }, () => ship(registration, parcel)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { kit: { status: 'shipped' } } })
    expect(await fixture.publishedEvents(kitShipped, registration.registrationId)).toMatchObject([parcel])
    const other = await ship(registration, { ...parcel, trackingNumber: '1Z000' })
    expect([other.status, codeOf(other)]).toEqual([409, 'kit_already_shipped'])
    expect(await fixture.publishedEvents(kitShipped, registration.registrationId)).toHaveLength(1)
  })

  it('answers 409 kit_not_ready before the waiver is signed', async () => {
    const registration = await fixture.enroll(await fixture.session())
    const answer = await ship(registration, parcel)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'kit_not_ready'])
    expect(await fixture.publishedEvents(kitShipped, registration.registrationId)).toEqual([])
  })

  it('answers 400 without a carrier', async () => {
    const registration = await fixture.enroll(await fixture.session())
    expect(pathsOf(await ship(registration, { trackingNumber: '1Z' }))).toContain('carrier')
  })
})
