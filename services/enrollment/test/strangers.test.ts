import { randomUUID, randomUUIDv7 } from 'node:crypto'
import {
  registrationAskedAgain,
  registrationExpired,
  registrationRejected,
  type Registration,
} from '@robokids/contracts/enrollment'
import { userConfirmed } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registrations, waivers } from '../src/schema.ts'
import { adminHeaders, browserId, codeOf, openSchool, requestFor, type Answer, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterAll(() => school.bed.stop())

type Session = Awaited<ReturnType<School['session']>>

const newFamily = () => ({ email: `${randomUUIDv7()}@example.com`, unlessRegistered: true })
type Family = ReturnType<typeof newFamily>

const stranger = () => ({ browserId: randomUUID() })

/** An account with a verified address. */
async function account(email: string): Promise<string> {
  const userId = randomUUID()
  const verified = { emailVerified: true, verifiedEmail: email, enabled: true }
  const named = { poolId: 'pool', username: userId, givenName: null }
  await school.hear(userConfirmed, userId, { userId, email, ...named, ...verified })
  return userId
}

/** What an answer shows, apart from what each registration has of its own. */
function shapeOf({ status, body }: Answer): unknown {
  const shape = Object.entries(body as Registration).map(([name, value]) => [
    name,
    value === null ? null : typeof value,
  ])
  return [status, Object.fromEntries(shape), (body as Registration).status]
}

const seatAgain = (session: Session, family: Family, differences = {}) =>
  school.register(requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', ...differences }))

describe('who asks for a seat that a child has already', () => {
  it.each([
    ['nothing', () => Promise.resolve()],
    ['held', async (session: Session, family: Family): Promise<void> => void (await school.hold(session, family))],
    ['paid', async (session: Session, family: Family): Promise<void> => void (await school.enrol(session, family))],
  ] as const)('is answered as everybody where they are a stranger and there is %s', async (_, given) => {
    const session = await school.session()
    const [family, nobody] = [newFamily(), newFamily()]
    await given(session, family)
    const answer = await seatAgain(session, family, stranger())
    expect(answer.status).toBe(200)
    expect(shapeOf(answer)).toEqual(shapeOf(await seatAgain(session, nobody, stranger())))
    // Not even those who know all that was registered are led to it.
    const same = await school.register(requestFor(session, { ...family, id: randomUUIDv7(), ...stranger() }))
    expect(same.body).toMatchObject({ status: 'held', ownerId: null })
  })

  it.each([
    'in the browser that made it',
    'with the account that made it',
    'with the account that it belongs to',
  ] as const)('is told so %s', async (how) => {
    const session = await school.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const asked = how === 'with the account that made it' ? { ownerId } : {}
    const { registrationId } = await school.enrol(session, { ...family, ...asked })
    const asker = how === 'in the browser that made it' ? {} : { ...stranger(), ownerId }
    expect(codeOf(await seatAgain(session, family, asker))).toBe('already_registered')
    const same = await school.register(requestFor(session, { ...family, id: randomUUIDv7(), ...asker }))
    expect(same.body).toMatchObject({ registrationId })
  })

  it('is not kept out of the class by what a stranger holds with the address of their account', async () => {
    const session = await school.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const theirs = await school.hold(session, { ...family, ...stranger() })
    const own = await seatAgain(session, family, { ownerId })
    expect(own.body).toMatchObject({ status: 'held', ownerId })
    expect((own.body as Registration).registrationId).not.toBe(theirs.registrationId)
    // Nor are they led to the stranger's page, whose reference the stranger knows.
    const same = await school.register(requestFor(session, { ...family, id: randomUUIDv7(), ownerId }))
    expect((same.body as Registration).registrationId).not.toBe(theirs.registrationId)
  })

  it('has the second payment turned away once, whichever of the two browsers pays first', async () => {
    for (const first of [0, 1]) {
      const session = await school.session()
      const family = newFamily()
      const pages = [
        await school.hold(session, family),
        (await seatAgain(session, family, stranger())).body as Registration,
      ].map(({ registrationId }) => registrationId)
      const [kept = '', other = ''] = first === 0 ? pages : pages.toReversed()
      await school.pay(kept)
      await school.pay(other)
      expect((await school.read(kept)).status).toBe('confirmed')
      expect((await school.read(other)).status).toBe('rejected')
      expect(await school.told(registrationRejected, other)).toMatchObject([{ duplicateOf: kept }])
      expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    }
  })

  it('who is a stranger is told of to the family of a paid registration, and to nobody before it is paid', async () => {
    const session = await school.session()
    const family = newFamily()
    const held = await school.hold(session, family)
    await seatAgain(session, family, stranger())
    await school.pay(held.registrationId)
    const { registrationId } = held
    expect(await school.told(registrationAskedAgain, registrationId)).toEqual([])
    const again = (await seatAgain(session, family, stranger())).body as Registration
    expect(await school.told(registrationAskedAgain, registrationId)).toMatchObject([
      { registrationId, email: family.email, askedFor: 'seat', isSigned: false },
    ])
    // What the family does itself tells nobody, nor does another child.
    await seatAgain(session, family)
    await seatAgain(session, family, { ...stranger(), childName: 'Noa' })
    await school.call('POST', `/registrations/${registrationId}/hold`, stranger())
    expect(await school.told(registrationAskedAgain, registrationId)).toHaveLength(1)
    await school.call('POST', `/registrations/${again.registrationId}/hold`, stranger())
    expect(await school.told(registrationAskedAgain, registrationId)).toHaveLength(2)
  })

  it('finds no other way to learn it: a hold of theirs that ran out is taken again as any', async () => {
    const session = await school.session()
    const [family, nobody] = [newFamily(), newFamily()]
    await school.enrol(session, family)
    const answers = await Promise.all(
      [family, nobody].map(async (one) => {
        const asker = stranger()
        const { registrationId } = (await seatAgain(session, one, asker)).body as Registration
        await school.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
        return school.call('POST', `/registrations/${registrationId}/hold`, asker)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const [one, other] = answers.map(shapeOf)
    expect(one).toEqual(other)
    // Who registered the child gets the clear answer.
    const old = await school.hold(session, { ...newFamily(), email: family.email, childName: 'Noa' })
    await school.call('POST', `/registrations/${old.registrationId}/expire`, {}, adminHeaders)
    await school.enrol(session, { ...family, childName: 'Noa' })
    expect(codeOf(await school.call('POST', `/registrations/${old.registrationId}/hold`))).toBe('already_registered')
  })
})

describe('a registration that another one names in replaces', () => {
  const change = (session: Session, family: Family, replaces: string, asker: object) =>
    seatAgain(session, family, { replaces, ...asker })

  it.each([
    ['another browser', {}, () => stranger(), false],
    [
      'the browser that made it, with a corrected address',
      {},
      () => ({ email: `corrected.${randomUUID()}@example.com` }),
      true,
    ],
    ['the browser that made it', {}, () => ({}), true],
    ['another account, in another browser', {}, () => ({ ...stranger(), ownerId: randomUUID() }), false],
    ['the browser of an account, where nobody is signed in any more', { signedIn: true }, () => ({}), false],
    ['its account, in another browser', { signedIn: true }, (ownerId: string) => ({ ...stranger(), ownerId }), true],
  ] as const)('asked for by %s', async (_, made, asker, gives) => {
    const session = await school.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const old = await school.hold(session, { ...family, ...('signedIn' in made ? { ownerId } : {}) })
    const judged = await school.call('POST', '/registrations/judge', {
      ...requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', replaces: old.registrationId }),
      ...asker(ownerId),
    })
    const answer = await change(session, family, old.registrationId, asker(ownerId))
    expect((await school.read(old.registrationId)).status).toBe(gives ? 'expired' : 'held')
    expect(await school.told(registrationExpired, old.registrationId)).toHaveLength(gives ? 1 : 0)
    if (judged.status === 200) {
      expect(judged.body).toEqual({ registrationId: null, replaces: gives ? old.registrationId : null })
      expect(answer.status).toBe(200)
    } else expect([codeOf(judged), codeOf(answer)]).toEqual(['already_registered', 'already_registered'])
  })

  it('stands where the other one is refused, whyever', async () => {
    const session = await school.session({ capacity: 1 })
    const full = await school.session({ capacity: 1 })
    await school.hold(full)
    const family = newFamily()
    const old = await school.hold(session, family)
    const taken = await school.hold(await school.session())
    for (const differences of [{ startDate: full.date }, { startDate: '2031-06-06' }, { id: taken.registrationId }]) {
      const asked = { ...differences, replaces: old.registrationId }
      for (const path of ['/registrations/judge', '/registrations']) {
        const body = requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', ...asked })
        expect((await school.call('POST', path, body)).status).toBeGreaterThanOrEqual(400)
        expect((await school.read(old.registrationId)).status).toBe('held')
      }
    }
    expect(await school.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('is told of to nobody who only knows its reference: a paid one is not refused to a stranger', async () => {
    const session = await school.session()
    const family = newFamily()
    const { registrationId } = await school.enrol(session, family)
    expect(codeOf(await change(session, family, registrationId, {}))).toBe('already_paid')
    expect((await change(session, family, registrationId, stranger())).status).toBe(200)
    expect((await school.read(registrationId)).status).toBe('confirmed')
  })
})

describe('a waiver that is to be signed without the reference of its registration', () => {
  const byDetails = (one: Registration, differences = {}) =>
    school.sign(one, { registrationId: undefined, ...differences })

  it('is signed in the browser that made it, or by its account', async () => {
    const inBrowser = await school.enrol(await school.session(), newFamily())
    expect((await byDetails(inBrowser)).status).toBe(200)
    const family = newFamily()
    const ofAccount = await school.enrol(await school.session(), family)
    expect((await byDetails(ofAccount, { ...stranger(), ownerId: await account(family.email) })).status).toBe(200)
  })

  it('is signed by no stranger, who is answered the same whatever there is, while the family is sent the way', async () => {
    const session = await school.session()
    const unsigned = await school.enrol(session, newFamily())
    const signed = await school.enrol(session, newFamily())
    await school.sign(signed)
    const held = await school.hold(session, newFamily())
    const unknown = { ...held, email: 'nobody@example.com' }
    const answers = await Promise.all(
      [unsigned, signed, held, unknown].map(async (one) => {
        const begun = performance.now()
        const { status, body } = await byDetails(one, stranger())
        // Nor does it tell how long something was looked for, or somebody written to.
        expect(performance.now() - begun).toBeGreaterThan(95)
        return { status, body: { ...(body as object), requestId: '' } }
      }),
    )
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'registration_not_found' } })
    const kept = await school.db.select().from(waivers).where(eq(waivers.registrationId, unsigned.registrationId))
    expect(kept).toEqual([])
    const toldOf = ({ registrationId }: Registration) => school.told(registrationAskedAgain, registrationId)
    expect(await toldOf(unsigned)).toMatchObject([{ askedFor: 'waiver', isSigned: false, email: unsigned.email }])
    expect(await toldOf(signed)).toMatchObject([{ askedFor: 'waiver', isSigned: true }])
    expect(await toldOf(held)).toEqual([])
    // By the reference, which that mail has, it is signed in any browser.
    expect((await school.sign(unsigned, stranger())).status).toBe(200)
  })
})

describe('a browser', () => {
  it('is kept with what was made in it, and told in no answer', async () => {
    const { registrationId } = await school.hold(await school.session(), newFamily())
    const [row] = await school.db.select().from(registrations).where(eq(registrations.id, registrationId))
    expect(row?.browserId).toBe(browserId)
    expect(JSON.stringify(await school.read(registrationId))).not.toContain(browserId)
  })
})
