import { createHash, randomUUIDv7 } from 'node:crypto'
import { subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
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
import { isoTime } from '../src/read-registrations.ts'
import { kitShipments, waivers } from '../src/schema.ts'
import { signableDocuments } from '../src/waiver-document.ts'
import { adminHeaders, codeOf, openSchool, pathsOf, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterAll(() => school.bed.stop())

async function documentSha256(): Promise<string> {
  const answer = await fetch(`${school.service.url}/waiver.pdf`)
  return answer.headers.get('x-document-sha256') ?? ''
}

function expire(registrationId: string) {
  return school.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
}

/** Nothing is signed, told or made ready for this registration. */
async function expectUnsigned({ registrationId }: Registration): Promise<void> {
  expect(await school.db.$count(waivers, eq(waivers.registrationId, registrationId))).toBe(0)
  expect(await school.db.$count(kitShipments, eq(kitShipments.registrationId, registrationId))).toBe(0)
  expect(await school.told(waiverSigned, registrationId)).toEqual([])
  expect(await school.told(kitReady, registrationId)).toEqual([])
}

describe('GET /waiver.pdf', () => {
  it('serves the document with its hash, and 304 where it is known', async () => {
    const answer = await fetch(`${school.service.url}/waiver.pdf`)
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
      const again = await fetch(`${school.service.url}/waiver.pdf`, { headers: { 'if-none-match': known } })
      expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
    }
    const other = await fetch(`${school.service.url}/waiver.pdf`, { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })
})

describe('GET /waiver-document', () => {
  it('serves the words of the document with its hash', async () => {
    const { status, body } = await school.call('GET', '/waiver-document')
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
    const registration = await school.enrol(await school.session())
    const { registrationId } = registration
    const sha256 = await documentSha256()
    const answer = await school.sign(registration, { documentSha256: sha256 })
    expect(answer.status).toBe(200)
    const waiver = waiverSchema.parse(answer.body)
    expect(waiver).toMatchObject({ registrationId, documentSha256: sha256 })
    const { waiverId, signedAt } = waiver
    expect(await school.read(registrationId)).toMatchObject({
      status: 'waiver_signed',
      waiver: { waiverId, signedAt, documentSha256: sha256 },
      kit: { status: 'ready' },
    })
    const [evidence] = await school.db.select().from(waivers).where(eq(waivers.registrationId, registrationId))
    expect(evidence).toMatchObject({
      id: waiverId,
      documentSha256: sha256,
      guardianName: 'Maren Holt',
      ipAddress: '198.51.100.7',
      userAgent: 'Mozilla/5.0 (a test)',
    })
    expect(evidence?.signedAt.toString({ fractionalSecondDigits: 3 })).toBe(signedAt)

    const told = await school.bus.seen(waiverSigned, (data) => data.registrationId === registrationId)
    expect(told.data).toMatchObject({
      waiverId,
      signedAt,
      documentSha256: sha256,
      signedPdfPath: `/waivers/${waiverId}.pdf`,
    })
    await school.bus.seen(kitReady, (data) => data.registrationId === registrationId)
    const pdf = await fetch(`${school.service.url}${told.data.signedPdfPath}`)
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    const bytes = Buffer.from(await pdf.arrayBuffer())
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    const [kept] = await school.db.select().from(waivers).where(eq(waivers.registrationId, registrationId))
    expect(bytes).toEqual(Buffer.from(kept?.signedPdf ?? []))
  })

  it('records one signature for five sent at once, and answers all the same', async () => {
    const registration = await school.enrol(await school.session())
    const answers = await Promise.all(Array.from({ length: 5 }, () => school.sign(registration)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
    const { registrationId } = registration
    expect(await school.db.$count(waivers, eq(waivers.registrationId, registrationId))).toBe(1)
    expect(await school.untilTold(waiverSigned, registrationId)).toHaveLength(1)
    expect(await school.told(kitReady, registrationId)).toHaveLength(1)
  })

  it('answers the same again, and 409 waiver_already_signed for another signer', async () => {
    const registration = await school.enrol(await school.session())
    const first = await school.sign(registration)
    const before = await school.read(registration.registrationId)
    expect(
      await school.sign(registration, { guardianName: ' Maren Holt ', email: 'MAREN.HOLT@example.com' }),
    ).toMatchObject({
      status: 200,
      body: first.body,
    })
    for (const difference of [{ guardianName: 'Someone Else' }, { documentSha256: '0'.repeat(64) }]) {
      const answer = await school.sign(registration, difference)
      expect([answer.status, codeOf(answer)]).toEqual([409, 'waiver_already_signed'])
    }
    const withoutReference = await school.sign(registration, {
      guardianName: 'Someone Else',
      registrationId: undefined,
    })
    expect(withoutReference.status).toBeGreaterThanOrEqual(400)
    expect(await school.read(registration.registrationId)).toEqual(before)
    expect(await school.untilTold(waiverSigned, registration.registrationId)).toHaveLength(1)
  })

  it('covers all children of the registration, whichever of them is named', async () => {
    const registration = await school.enrol(await school.session(), { siblings: [{ childName: 'Noa', childAge: 7 }] })
    const first = await school.sign(registration, { childName: 'Noa' })
    expect(first.status).toBe(200)
    expect(await school.sign(registration)).toMatchObject({ status: 200, body: first.body })
    expect(await school.told(kitReady, registration.registrationId)).toHaveLength(1)
  })

  it('answers 409 registration_not_paid, with a text, while or unless it is paid', async () => {
    const held = await school.hold(await school.session())
    const expired = await school.hold(await school.session())
    await expire(expired.registrationId)
    const crowded = await school.session({ capacity: 1 })
    const rejected = await school.hold(crowded)
    await expire(rejected.registrationId)
    await school.enrol(crowded)
    await school.pay(rejected.registrationId)
    await school.untilStatus(rejected.registrationId, 'rejected')
    const refunded = await school.enrol(await school.session())
    await school.refund(refunded, refunded.payment?.paymentId ?? '')
    await school.untilStatus(refunded.registrationId, 'cancelled')
    for (const registration of [held, expired, rejected, refunded]) {
      const answer = await school.sign(registration)
      expect([answer.status, codeOf(answer)]).toEqual([409, 'registration_not_paid'])
      expect((answer.body as { message: string }).message).toMatch(/^This registration .*\.$/)
      await expectUnsigned(registration)
    }
    expect(await school.sign(held)).toMatchObject({
      body: { message: 'This registration is not paid yet. Please complete the payment before you sign the waiver.' },
    })
  })

  it('is refused after a refund, and then no kit is shipped either', async () => {
    const registration = await school.enrol(await school.session())
    await school.sign(registration)
    await school.refund(registration, registration.payment?.paymentId ?? '')
    await school.untilStatus(registration.registrationId, 'cancelled')
    expect(codeOf(await school.sign(registration))).toBe('registration_not_paid')
    const kit = { carrier: 'UPS', trackingNumber: '1Z' }
    const shipped = await school.call('POST', `/kits/${registration.registrationId}/ship`, kit, adminHeaders)
    expect([shipped.status, codeOf(shipped)]).toEqual([409, 'kit_not_ready'])
    expect(await school.told(kitShipped, registration.registrationId)).toEqual([])
  })

  it('without a reference goes to the paid registration of that family, child, date and class', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const session = await school.session()
    const held = await school.hold(session, { email })
    const other = await school.enrol(session)
    const paid = await school.enrol(session, { email })
    const later = await school.hold(session, { email })
    const answer = await school.sign(paid, { registrationId: undefined, email: email.toUpperCase() })
    expect(answer).toMatchObject({ status: 200, body: { registrationId: paid.registrationId } })
    for (const registration of [held, other, later]) await expectUnsigned(registration)
    // Sent again, it is that one's signature, and never the held one's.
    expect(await school.sign(paid, { registrationId: undefined })).toMatchObject({ status: 200, body: answer.body })
  })

  it('without a reference and date goes to the oldest that is paid and unsigned', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const first = await school.enrol(await school.session(), { email })
    const second = await school.enrol(await school.session(), { email })
    const bare = { registrationId: undefined, startDate: '' }
    expect(await school.sign(first, bare)).toMatchObject({ body: { registrationId: first.registrationId } })
    expect(await school.sign(first, bare)).toMatchObject({ body: { registrationId: second.registrationId } })
  })

  it('without a reference answers 409 where none is paid, 404 where none fits', async () => {
    const email = `family-${randomUUIDv7()}@example.com`
    const held = await school.hold(await school.session(), { email })
    const bare = { registrationId: undefined }
    expect(codeOf(await school.sign(held, bare))).toBe('registration_not_paid')
    for (const difference of [
      { childName: 'Noa' },
      { classType: 'custom' },
      { startDate: '2031-01-01' },
      { email: 'x@example.com' },
    ]) {
      const answer = await school.sign(held, { ...bare, ...difference })
      expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
    }
    await expectUnsigned(held)
  })

  it('with a reference to another family’s registration answers 404', async () => {
    const theirs = await school.enrol(await school.session())
    for (const difference of [
      { email: 'other@example.com' },
      { childName: 'Noa' },
      { classType: 'advanced' },
      { startDate: '2031-01-01' },
      { guardianName: 'Someone Else' },
      { registrationId: randomUUIDv7() },
    ]) {
      const answer = await school.sign(theirs, difference)
      expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
    }
    await expectUnsigned(theirs)
    expect((await school.read(theirs.registrationId)).status).toBe('confirmed')
  })

  it('records the document of the same words that the signer was shown before there was the one of today', async () => {
    const registration = await school.enrol(await school.session())
    const [today, before] = signableDocuments()
    expect(before).not.toBe(today)
    const answer = await school.sign(registration, { documentSha256: before })
    expect(answer).toMatchObject({ status: 200, body: { documentSha256: before } })
    const told = await school.bus.seen(waiverSigned, (data) => data.registrationId === registration.registrationId)
    expect(told.data.documentSha256).toBe(before)
  })

  it('answers 409 waiver_document_changed where the signer was shown another document', async () => {
    const registration = await school.enrol(await school.session())
    const answer = await school.sign(registration, { documentSha256: 'f'.repeat(64) })
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'waiver_document_changed', message: 'The waiver was updated. Please read it again.' },
    })
    await expectUnsigned(registration)
  })

  it('keeps unusual names and takes them in either Unicode form', async () => {
    for (const name of [
      'Zo\u00eb \u00c5ngstr\u00f6m',
      'Nguyễn Thị Ánh',
      '张伟',
      'עדי לוי',
      'محمد',
      "D'Arcy & Jo <3",
      'Ivo 🤖',
    ]) {
      const registration = await school.enrol(await school.session(), { guardianName: name, childName: name })
      const decomposed = name.normalize('NFD')
      const answer = await school.sign(registration, { guardianName: decomposed, childName: decomposed })
      expect(answer.status).toBe(200)
      const [evidence] = await school.db
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
    ['a date that there is not', { startDate: '2027-02-30' }, 'startDate'],
    ['a hash of 63 digits', { documentSha256: 'f'.repeat(63) }, 'documentSha256'],
    ['a reference that is no id', { registrationId: 'maren' }, 'registrationId'],
    ['no evidence', { evidence: undefined }, 'evidence'],
  ])('answers 400 for %s', async (_, difference, path) => {
    const registration = await school.enrol(await school.session())
    const answer = await school.sign(registration, difference)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    expect(pathsOf(answer)).toContain(path)
    await expectUnsigned(registration)
  })
})

describe('POST /waivers of a membership', () => {
  async function member(session?: Awaited<ReturnType<School['session']>>) {
    const { date } = session ?? (await school.session({ classType: 'membership' }))
    const membershipId = randomUUIDv7()
    const facts = {
      attemptId: membershipId,
      email: 'maren.holt@example.com',
      plan: 'monthly' as const,
      amount: 700,
      currency: 'usd' as const,
    }
    await school.hear(subscriptionActivated, membershipId, {
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
    school.call('POST', '/waivers', {
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
    memberSeatSchema.parse((await school.call('GET', `/member-seats/${membershipId}`)).body)
  const evidenceOf = ({ membershipId }: Member) =>
    school.db.select().from(waivers).where(eq(waivers.membershipId, membershipId))

  it('records one signature of five sent at once, with its evidence and the signed PDF, and no kit', async () => {
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
    const told = { documentSha256: sha256, address }
    const answers = await Promise.all(Array.from({ length: 5 }, () => sign(one, told)))
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
    const [event, ...others] = await school.untilTold(waiverSigned, membershipId)
    expect(others).toEqual([])
    expect(event).toMatchObject({
      ...waiver,
      classType: 'membership',
      startDate: date,
      startTime: '16:00',
      familyTimeZone: 'Europe/Berlin',
      children: [{ childName: 'Ivo', childAge: 9 }],
    })
    expect(await school.told(kitReady, membershipId)).toEqual([])
    const pdf = await fetch(`${school.service.url}${event?.signedPdfPath}`)
    const [kept] = await evidenceOf(one)
    expect(Buffer.from(await pdf.arrayBuffer())).toEqual(Buffer.from(kept?.signedPdf ?? []))
    expect((await seatOf(one)).waiverSignedAt).toBe(waiver.signedAt)
  })

  it('answers the same again, and 409 waiver_already_signed for another guardian or child', async () => {
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
    expect(await school.untilTold(waiverSigned, one.membershipId)).toHaveLength(1)
  })

  it('is refused without the membership’s id, for one that is not known, has no seat or has ended, and writes nothing', async () => {
    const crowded = await school.session({ classType: 'membership', capacity: 1 })
    await member(crowded)
    const refused = await member(crowded)
    const ended = await member()
    const { attemptId, email, plan, amount, currency } = ended
    const over = { attemptId, email, plan, amount, currency, endedAt: isoTime(Temporal.Now.instant()) }
    await school.hear(subscriptionEnded, attemptId, { ...over, reason: 'cancelled' })
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
      expect(await school.told(waiverSigned, which.membershipId)).toEqual([])
    }
    expect([(await seatOf(refused)).status, (await seatOf(ended)).status]).toEqual(['refused', 'released'])
    expect((await school.call('GET', `/member-seats/${randomUUIDv7()}`)).status).toBe(404)
    // A membership is no registration, nor the other way round.
    expect(codeOf(await sign(one, { classType: 'basic' }))).toBe('registration_not_found')
  })
})

describe('a signature of somebody who knows a membership’s id', () => {
  async function member() {
    const { date } = await school.session({ classType: 'membership' })
    const userId = randomUUIDv7()
    const email = `${userId}@example.com`
    const named = { poolId: 'pool', username: userId, givenName: null }
    const account = { ...named, userId, email, emailVerified: true, verifiedEmail: email, enabled: true }
    await school.hear(userConfirmed, userId, account)
    const membershipId = randomUUIDv7()
    await school.hear(subscriptionActivated, membershipId, {
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
    school.call('POST', '/waivers', {
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
    memberSeatSchema.parse((await school.call('GET', `/member-seats/${membershipId}${query}`)).body)
  const evidenceOf = ({ membershipId }: Member) =>
    school.db.select().from(waivers).where(eq(waivers.membershipId, membershipId)).orderBy(asc(waivers.id))

  it('goes to the address of the membership, whatever address they give', async () => {
    const one = await member()
    expect((await sign(one, mallory)).status).toBe(200)
    const [event] = await school.untilTold(waiverSigned, one.membershipId)
    expect(event).toMatchObject({ guardianName: 'Mallory', email: one.email })
    const [kept] = await evidenceOf(one)
    expect(kept?.member).toMatchObject({ email: one.email })
  })

  it('goes to the address that the account of the membership has by now', async () => {
    const one = await member()
    const email = `moved.${one.email}`
    await school.hear(userUpdated, one.userId, {
      ...one.account,
      email,
      verifiedEmail: email,
      changed: ['email'],
      previousEmail: one.email,
    })
    await sign(one)
    expect(await school.untilTold(waiverSigned, one.membershipId)).toMatchObject([{ email }])
  })

  it('is replaced by one of the member, and both are kept', async () => {
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
    const told = await eventually(async () => {
      const all = await school.told(waiverSigned, one.membershipId)
      return all.length === 2 && all
    })
    expect(told.find(({ waiverId }) => waiverId === right.waiverId)).toMatchObject({ replaces: wrong.waiverId })
    // One that comes late, of before, takes nothing back.
    expect(codeOf(await sign(one, { ...mallory, ...own }))).toBe('waiver_already_signed')
    expect(await seat(one, `?ownerId=${one.userId}`)).toMatchObject({ signed: { waiverId: right.waiverId } })
  })

  it('is replaced ten times a day at most, as each is kept with its PDF, and by the next day again', async () => {
    const one = await member()
    const again = async (nth: number, replaces?: string) => {
      const asked = { guardianName: `Maren ${nth}`, ownerId: one.userId, ...(replaces ? { replaces } : {}) }
      return sign(one, asked)
    }
    let last: string | undefined
    for (let nth = 0; nth < 10; nth += 1) last = waiverSchema.parse((await again(nth, last)).body).waiverId
    const refused = await again(10, last)
    expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited'])
    // What is signed is answered as ever.
    expect((await again(9)).body).toMatchObject({ waiverId: last })
    school.service.context.clock.advance({ hours: 25 })
    expect((await again(10, last)).status).toBe(200)
    school.resetClock()
    expect(await evidenceOf(one)).toHaveLength(11)
  })

  it('is replaced by nobody else, and shown to nobody else', async () => {
    const one = await member()
    const { waiverId } = waiverSchema.parse((await sign(one)).body)
    for (const asker of [{}, { ownerId: randomUUIDv7() }, { ownerId: null }]) {
      const answer = await sign(one, { ...mallory, ...asker, replaces: waiverId })
      expect([answer.status, codeOf(answer)]).toEqual([409, 'waiver_already_signed'])
    }
    // Nor by its member who does not say which one.
    expect(codeOf(await sign(one, { ...mallory, ownerId: one.userId }))).toBe('waiver_already_signed')
    expect(await seat(one)).not.toHaveProperty('signed')
    expect(await seat(one, `?ownerId=${randomUUIDv7()}`)).not.toHaveProperty('signed')
    expect(await evidenceOf(one)).toHaveLength(1)
  })
})

describe('GET /waivers/:id.pdf', () => {
  it('answers 404 for one there is not, 400 for what is no id', async () => {
    expect((await school.call('GET', `/waivers/${randomUUIDv7()}.pdf`)).status).toBe(404)
    expect((await school.call('GET', '/waivers/maren.pdf')).status).toBe(400)
  })
})

describe('POST /kits/:id/ship', () => {
  const ship = (registration: Registration, body: unknown, headers: Record<string, string> = adminHeaders) =>
    school.call('POST', `/kits/${registration.registrationId}/ship`, body, headers)
  const parcel = { carrier: 'UPS', trackingNumber: '1Z999AA10123456784' }

  it('needs the admin secret', async () => {
    const registration = await school.enrol(await school.session())
    expect(codeOf(await ship(registration, parcel, {}))).toBe('admin_secret_invalid')
  })

  it('tells kit.shipped once, and refuses another tracking number', async () => {
    const registration = await school.enrol(await school.session())
    await school.sign(registration)
    const answers = await Promise.all(Array.from({ length: 3 }, () => ship(registration, parcel)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { kit: { status: 'shipped' } } })
    expect(await school.told(kitShipped, registration.registrationId)).toMatchObject([parcel])
    const other = await ship(registration, { ...parcel, trackingNumber: '1Z000' })
    expect([other.status, codeOf(other)]).toEqual([409, 'kit_already_shipped'])
    expect(await school.told(kitShipped, registration.registrationId)).toHaveLength(1)
  })

  it('answers 409 kit_not_ready before the waiver is signed', async () => {
    const registration = await school.enrol(await school.session())
    const answer = await ship(registration, parcel)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'kit_not_ready'])
    expect(await school.told(kitShipped, registration.registrationId)).toEqual([])
  })

  it('answers 400 without a carrier', async () => {
    const registration = await school.enrol(await school.session())
    expect(pathsOf(await ship(registration, { trackingNumber: '1Z' }))).toContain('carrier')
  })
})
