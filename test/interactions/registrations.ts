import { randomUUIDv7 } from 'node:crypto'
import { orderTerms } from '@robokids/contracts/offers'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { cards, pageOf, refusalOf, sessionOf, type Page, type Stage } from './stage.ts'

const noa = { childName: 'Noa', childAge: 8 }

/** Registrations while prices, seats and other tabs change. */
export function registrationInteractions(stage: () => Stage): void {
  /** Runs `work` at another price. */
  async function atPrice(sku: string, amount: number, opening: number, work: () => Promise<void>): Promise<void> {
    await stage().setPrice(sku, amount)
    try {
      await work()
    } finally {
      await stage().setPrice(sku, opening)
    }
  }

  const submit = (body: object) => stage().browser().post('/api/registrations', body)
  const resume = (id: string, body?: object) =>
    stage()
      .browser()
      .post(`/api/registrations/${id}/checkout`, body ?? {})

  /** Lets the hold of a registration expire. */
  async function expireHold(id: string): Promise<void> {
    const sql = stage().system.sql('enrollment')
    await sql`update registrations set held_until = now() - interval '1 hour' where id = ${id}`
    await stage().system.wake('enrollment', 'expire-holds')
    await stage().system.reaches(id, 'expired')
    await stage().settled()
  }

  describe('Agreed prices', () => {
    it('Two children are charged the promotion price agreed to, or get the new price once the promotion has ended', async () => {
      const sql = stage().system.sql('billing')
      const promotion = randomUUIDv7()
      await sql`insert into promotions (id, kind, class_types, starts_at, ends_at) values
        (${promotion}, 'sibling_free', '["basic"]', now() - interval '1 hour', now() + interval '1 hour')`
      const running = await sql`select id, ends_at from promotions where ends_at > now() and id <> ${promotion}`
      try {
        const body = await stage().form({ siblings: [noa] })
        const agreed = await stage().terms(body)
        expect(agreed.dueNow).toBe(40_000)
        await sql`update promotions set ends_at = now() where ends_at > now()`
        const refused = await submit({ ...body, agreed })
        expect(refused).toMatchObject({ status: 409, body: { code: 'price_changed' } })
        const { terms } = refused.body['agreement'] as { terms: { dueNow: number } }
        expect(terms.dueNow).toBe(80_000)
        const page = pageOf(await submit({ ...body, agreed: terms }))
        await stage().pay(page)
        await stage().system.reaches(page.id, 'confirmed')
        expect(stage().kept(page.id)).toBe(80_000)
      } finally {
        await sql`delete from promotions where id = ${promotion}`
        for (const { id, ends_at: endsAt } of running)
          await sql`update promotions set ends_at = ${endsAt as Date} where id = ${id as string}`
      }
    })

    it('Two children are offered, and charged, less once a promotion has begun', async () => {
      const sql = stage().system.sql('billing')
      const promotion = randomUUIDv7()
      const form = await stage().form({ classType: 'intermediate', siblings: [noa] })
      const running = await sql`select id, ends_at from promotions where ends_at > now()`
      try {
        await sql`update promotions set ends_at = now() where ends_at > now()`
        const agreed = await stage().terms(form)
        expect(agreed.dueNow).toBe(100_000)
        await sql`insert into promotions (id, kind, class_types, starts_at, ends_at) values
          (${promotion}, 'sibling_free', '["intermediate"]', now(), now() + interval '1 hour')`
        const refused = await submit({ ...form, agreed })
        expect(refusalOf(refused)).toBe('price_changed')
        const { terms } = refused.body['agreement'] as { terms: { dueNow: number } }
        const page = pageOf(await submit({ ...form, agreed: terms }))
        await stage().pay(page)
        await stage().system.reaches(page.id, 'confirmed')
        expect([terms.dueNow, stage().kept(page.id)]).toEqual([50_000, 50_000])
      } finally {
        await sql`delete from promotions where id = ${promotion}`
        for (const { id, ends_at: endsAt } of running)
          await sql`update promotions set ends_at = ${endsAt as Date} where id = ${id as string}`
      }
    })

    it('The agreed price is valid after the price was raised and lowered again', async () => {
      const body = await stage().form()
      const agreed = await stage().terms(body)
      const page = pageOf(await submit({ ...body, agreed }))
      await atPrice('class:basic', 45_000, 40_000, async () => {})
      expect(pageOf(await submit({ ...body, agreed }))).toEqual(page)
      const other = await stage().form()
      await atPrice('class:basic', 45_000, 40_000, async () => {})
      const paid = pageOf(await submit({ ...other, agreed: await stage().terms(other) }))
      await stage().pay(paid)
      await stage().system.reaches(paid.id, 'confirmed')
      expect(stage().kept(paid.id)).toBe(40_000)
    })

    it('An open page keeps its price when the price is raised', async () => {
      const registered = await stage().register()
      await atPrice('class:basic', 45_000, 40_000, async () => {
        await stage().pay(registered)
        await stage().system.reaches(registered.id, 'confirmed')
      })
      expect(stage().kept(registered.id)).toBe(40_000)
    })

    it('A hold taken up again at another price needs a new agreement before anything is charged', async () => {
      const registered = await stage().register()
      const agreed = await stage().terms(registered.body)
      await expireHold(registered.id)
      await atPrice('class:basic', 45_000, 40_000, async () => {
        const refused = await resume(registered.id, { agreed })
        expect(refused).toMatchObject({ status: 409, body: { code: 'price_changed' } })
        expect(stage().openPages(registered.id)).toBe(0)
        const { terms } = refused.body['agreement'] as { terms: object }
        const page = pageOf(await resume(registered.id, { agreed: terms }))
        await stage().pay(page)
        await stage().system.reaches(registered.id, 'confirmed')
      })
      expect(stage().kept(registered.id)).toBe(45_000)
    })

    it('A form of an older tab without an agreed price is charged the current price, which its payment page shows', async () => {
      const body = await stage().form()
      await atPrice('class:basic', 45_000, 40_000, async () => {
        const page = pageOf(await submit(body))
        await stage().pay(page)
        await stage().system.reaches(page.id, 'confirmed')
        expect(stage().kept(page.id)).toBe(45_000)
      })
    })

    it('An agreement about another date or product is rejected with the current offer, which is then accepted', async () => {
      const body = await stage().form()
      const otherDate = { ...(await stage().terms(body)), date: await stage().date() }
      const anOrder = orderTerms([{ sku: 'class:basic', quantity: 1, unitAmount: 40_000 }])
      for (const agreed of [otherDate, anOrder, { ...otherDate, dueNow: 1 }])
        expect(refusalOf(await submit({ ...body, agreed }))).toBe('price_changed')
      const refused = await submit({ ...body, agreed: otherDate })
      const { terms } = refused.body['agreement'] as { terms: { date: string } }
      expect(terms.date).toBe(body.startDate)
      const page = pageOf(await submit({ ...body, agreed: terms }))
      expect(await stage().pay(page)).toBe('paid')
      await stage().system.reaches(page.id, 'confirmed')
    })
  })

  describe('Repeated registrations', () => {
    it('A form with one registered and one new child names the first, and the second can be registered alone', async () => {
      const first = await stage().enrolled()
      const form = again(first.body)
      const both = await stage().form({ ...form, childName: 'Mia', siblings: [{ childName: 'ivo', childAge: 9 }] })
      const refused = await submit(both)
      expect(refused).toMatchObject({ status: 409, body: { code: 'already_registered' } })
      expect(JSON.stringify(refused.body['issues'])).toContain('siblings.0.childName')
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(9)
      const second = pageOf(await submit({ ...both, siblings: [] }))
      await stage().pay(second)
      await stage().system.reaches(second.id, 'confirmed')
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(8)
    })

    it('Registering in two tabs at once holds one seat and has one page', async () => {
      const form = await stage().form()
      const pages = await Promise.all(
        [form, { ...form, id: randomUUIDv7() }].map(async (body) =>
          pageOf(await submit({ ...body, agreed: await stage().terms(body) })),
        ),
      )
      expect(pages[1]).toEqual(pages[0])
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(9)
    })

    it('An API client can register the same child twice, but the form cannot do so again', async () => {
      const form = await stage().form({ unlessRegistered: false })
      const pages = [pageOf(await submit(form)), pageOf(await submit({ ...form, id: randomUUIDv7() }))]
      for (const page of pages) await stage().pay(page)
      await stage().settled()
      const ids = pages.map(({ id }) => id)
      const statuses = await Promise.all(ids.map(async (id) => (await stage().registration(id)).status))
      expect(statuses).toEqual(['confirmed', 'confirmed'])
      const third = { ...form, id: randomUUIDv7(), unlessRegistered: true, city: 'Fremont' }
      expect(refusalOf(await submit(third))).toBe('already_registered')
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(8)
    })

    it('Going back after the payment leads to the confirmation or says that it is paid, and is charged once', async () => {
      const first = await stage().register()
      await stage().pay(first)
      const agreed = await stage().terms(first.body)
      const back = await submit({ ...first.body, agreed })
      await stage().settled()
      const site = `${stage().system.siteUrl}/robokids/success?reference=${first.id}`
      // Billing may know of the payment before enrollment does.
      if (back.status === 409)
        expect(back.body).toMatchObject({
          code: 'registration_closed',
          message: 'This registration is already paid.',
        })
      else expect([first.url, site]).toContain(pageOf(back).url)
      expect(pageOf(await submit({ ...first.body, agreed })).url).toBe(site)
      const corrected = { ...first.body, id: randomUUIDv7(), city: 'Fremont', agreed }
      expect(refusalOf(await submit({ ...corrected, replaces: first.id }))).toBe('already_paid')
      expect(refusalOf(await submit(corrected))).toBe('already_registered')
      expect(stage().charges(first.id)).toHaveLength(1)
    })
  })

  describe('Registrations', () => {
    it('A registration is unchanged when another family reuses its id, and so is the one named to be replaced', async () => {
      const [first, named] = [await stage().register(), await stage().register()]
      const stranger = await stage().form({ id: first.id, replaces: named.id })
      expect(refusalOf(await submit(stranger))).toBe('id_reused')
      expect([await stage().pay(first), await stage().pay(named)]).toEqual(['paid', 'paid'])
      await stage().system.reaches(first.id, 'confirmed')
      await stage().system.reaches(named.id, 'confirmed')
    })

    it('A paid registration stays paid when another family names it to be replaced', async () => {
      const first = await stage().register()
      await stage().pauseWebhooks()
      await stage().pay(first)
      const form = await stage().form({ replaces: first.id })
      const ask = () => stage().stranger().post('/api/registrations', form)
      // A stranger can neither change it nor learn about it.
      expect((await ask()).status).toBe(200)
      await stage().releaseWebhooks()
      await stage().system.reaches(first.id, 'confirmed')
      expect((await ask()).status).toBe(200)
      expect(stage().kept(first.id)).toBe(40_000)
    })

    it('A registration that names itself or an order as replaced is unchanged', async () => {
      const first = await stage().register()
      const again = await submit({ ...first.body, replaces: first.id, agreed: await stage().terms(first.body) })
      expect(pageOf(again)).toEqual({ id: first.id, url: first.url })
      const order = await stage().order({
        orderId: randomUUIDv7(),
        items: [{ sku: 'product:robot-spider', quantity: 1 }],
      })
      const other = await submit(await stage().form({ replaces: order.id }))
      expect([200, 409]).toContain(other.status)
      expect(await stage().pay(order, undefined, stage().address())).toBe('paid')
      expect(await stage().pay(first)).toBe('paid')
    })

    it('A registration that was corrected twice can be paid on its last page only', async () => {
      const first = await stage().register()
      const second = await stage().register({ ...again(first.body), city: 'Fremont', replaces: first.id })
      const third = await stage().register({ ...again(first.body), city: 'Oakland', replaces: second.id })
      expect(await stage().pay(first)).toBe('expired')
      expect(await stage().pay(second)).toBe('expired')
      expect(await stage().pay(third)).toBe('paid')
      await stage().system.reaches(third.id, 'confirmed')
      await stage().settled()
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
    })

    it('A registration being paid by bank debit cannot be corrected until the debit fails', async () => {
      const first = await stage().register()
      await stage().control(`checkout/${sessionOf(first.url)}/complete-async`)
      await eventually(async () => (await stage().registration(first.id)).checkout?.status === 'processing')
      const corrected = await stage().form({ ...again(first.body), city: 'Fremont', replaces: first.id })
      expect(refusalOf(await submit(corrected))).toBe('already_paid')
      await stage().control(`checkout/${sessionOf(first.url)}/settle-async`, { outcome: 'failed' })
      await stage().system.reaches(first.id, 'expired')
      const page = pageOf(await submit(corrected))
      expect(await stage().pay(page)).toBe('paid')
      await stage().system.reaches(page.id, 'confirmed')
      await stage().settled()
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
    })

    it('A registration that cannot move to a full date keeps its seat and its page', async () => {
      const first = await stage().register()
      const full = await stage().date(0)
      const moved = await stage().form({ ...again(first.body), startDate: full, replaces: first.id })
      expect(refusalOf(await submit(moved))).toBe('class_full')
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
      expect(await stage().pay(first)).toBe('paid')
      await stage().system.reaches(first.id, 'confirmed')
    })

    it('A registration corrected while the provider is down keeps its seat and page, and is corrected when it is back', async () => {
      const first = await stage().register()
      const corrected = await stage().form({ ...again(first.body), city: 'Fremont', replaces: first.id })
      const path = `/v1/checkout/sessions/${sessionOf(first.url)}/expire`
      await stage().fault(path, { kind: 'error', method: 'POST', times: 20 })
      expect((await submit(corrected)).status).toBe(503)
      expect([stage().openPages(first.id), stage().openPages(corrected.id)]).toEqual([1, 0])
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
      expect((await stage().registration(first.id)).status).toBe('held')
      await stage().restore()
      const page = pageOf(await submit(corrected))
      expect([await stage().pay(first), await stage().pay(page)]).toEqual(['expired', 'paid'])
      await stage().system.reaches(page.id, 'confirmed')
    })

    it('A registration moved to a class of another price can still be paid if that price was not agreed to', async () => {
      const first = await stage().register()
      const agreed = await stage().terms(first.body)
      const moved = await stage().form({ ...again(first.body), classType: 'intermediate', replaces: first.id })
      const refused = await submit({ ...moved, agreed })
      expect(refusalOf(refused)).toBe('price_changed')
      const { terms } = refused.body['agreement'] as { terms: { dueNow: number } }
      expect(terms.dueNow).toBe(50_000)
      const page = pageOf(await submit({ ...moved, agreed: terms }))
      const outcomes = [await stage().pay(first), await stage().pay(page)]
      expect(outcomes).toEqual(['expired', 'paid'])
      await stage().system.reaches(page.id, 'confirmed')
      await stage().settled()
      const { startDate } = first.body
      const left = [await stage().seatsLeft('basic', startDate), await stage().seatsLeft('intermediate', startDate)]
      expect(left).toEqual([10, 9])
    })

    it('A registration that is paid after its change of class was rejected for the price is not paid again with that change', async () => {
      const first = await stage().register()
      const agreed = await stage().terms(first.body)
      const moved = await stage().form({ ...again(first.body), classType: 'intermediate', replaces: first.id })
      expect(refusalOf(await submit({ ...moved, agreed }))).toBe('price_changed')
      const page = pageOf(await resume(first.id, { agreed }))
      expect(await stage().pay(page)).toBe('paid')
      const agreedNow = await stage().terms(moved)
      expect(refusalOf(await submit({ ...moved, agreed: agreedNow }))).toBe('already_paid')
      await stage().system.reaches(first.id, 'confirmed')
      expect(refusalOf(await submit({ ...moved, agreed: agreedNow }))).toBe('already_paid')
      expect(stage().kept(first.id, moved.id)).toBe(40_000)
    })

    it('An older form does not reopen a replaced registration while the new one can be paid', async () => {
      const first = await stage().register()
      const second = await stage().register({ ...again(first.body), city: 'Fremont', replaces: first.id })
      await stage().settled()
      const older = await submit({ ...first.body, agreed: await stage().terms(first.body) })
      expect(refusalOf(older)).toBe('already_registered')
      expect(stage().openPages(first.id, second.id)).toBe(1)
      expect(await stage().pay(second)).toBe('paid')
      await stage().system.reaches(second.id, 'confirmed')
      await stage().settled()
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
    })

    it('A registration with a pending refund blocks registering its child again until it is cancelled', async () => {
      const first = await stage().enrolled({}, cards.slowRefund)
      expect((await stage().refund(first.id)).status).toBe(200)
      await stage().settled()
      const repeated = await stage().form({ ...again(first.body), city: 'Fremont' })
      expect(refusalOf(await submit(repeated))).toBe('already_registered')
      await stage().control(`refunds/${stage().refunds(first.id)[0]?.id}/settle`)
      await stage().system.reaches(first.id, 'cancelled')
      const page = pageOf(await submit(repeated))
      await stage().pay(page)
      await stage().system.reaches(page.id, 'confirmed')
      await stage().settled()
      expect([stage().kept(first.id), stage().kept(page.id)]).toEqual([0, 40_000])
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
    })

    it('A registration paid and refunded during a mail server outage is mailed as it ended', async () => {
      await stage().setMailServer('away')
      const first = await stage().enrolled()
      expect((await stage().refund(first.id)).status).toBe(200)
      await stage().system.reaches(first.id, 'cancelled')
      await eventually(async () => {
        const [row] = await stage().system.sql('notifications')`
          select count(*)::int as mails from mails where recipient = ${first.body.email}`
        return Number(row?.['mails']) >= 2
      })
      await stage().setMailServer('back')
      await stage().settled()
      const subjects = await stage().subjects(first.body.email)
      expect(subjects.at(-1)).toMatch(/refund/i)
      expect(subjects.filter((subject) => /refund/i.test(subject))).toHaveLength(1)
    })

    it('A registration that two tabs correct differently is paid once, whichever pages are left', async () => {
      const first = await stage().register()
      const answers = await Promise.all(
        ['Fremont', 'Oakland'].map(async (city) =>
          submit(await stage().form({ ...again(first.body), city, replaces: first.id })),
        ),
      )
      const pages: Page[] = [first, ...answers.filter(({ status }) => status === 200).map(pageOf)]
      expect(pages.length).toBeGreaterThan(1)
      for (const page of pages) await stage().pay(page)
      await stage().settled()
      expect(stage().kept(...pages.map(({ id }) => id))).toBe(40_000)
      expect(await stage().seatsLeft('basic', first.body.startDate)).toBe(9)
    })

    it('An older page does not hold a replaced registration again while the new one can be paid', async () => {
      const first = await stage().register()
      const second = await stage().register({ ...again(first.body), city: 'Fremont', replaces: first.id })
      await stage().settled()
      expect(refusalOf(await resume(first.id))).toBe('already_registered')
      expect(stage().openPages(first.id, second.id)).toBe(1)
      expect(await stage().pay(second)).toBe('paid')
      await stage().system.reaches(second.id, 'confirmed')
      expect(refusalOf(await resume(first.id))).toBe('already_registered')
    })

    it('A registration keeps its seat if the class capacity is reduced while it is paid, and nobody else gets one', async () => {
      const first = await stage().register()
      const sql = stage().system.sql('enrollment')
      const { startDate } = first.body
      await sql`update class_sessions set capacity = 0 where date = ${startDate} and class_type = 'basic'`
      await stage().pay(first)
      await stage().system.reaches(first.id, 'confirmed')
      expect(await stage().seatsLeft('basic', startDate)).toBe(0)
      expect(refusalOf(await submit(await stage().form({ startDate })))).toBe('class_full')
    })

    it('A registration is refunded once, with one mail, if the class is cancelled while it is paid', async () => {
      const first = await stage().register()
      const sql = stage().system.sql('enrollment')
      const { startDate, email } = first.body
      await sql`update class_sessions set status = 'cancelled' where date = ${startDate} and class_type = 'basic'`
      await stage().pay(first)
      await stage().system.reaches(first.id, 'rejected')
      await stage().settled()
      expect([stage().kept(first.id), stage().refunds(first.id).length]).toEqual([0, 1])
      expect(await stage().subjects(email)).toHaveLength(1)
      expect(refusalOf(await resume(first.id))).toBe('registration_closed')
    })

    it('A registration released by an operator while it is paid is either confirmed or refunded', async () => {
      const families = await Promise.all(Array.from({ length: 4 }, () => stage().register()))
      await Promise.all(
        families.flatMap((family) => [
          stage().pay(family),
          stage().operate('enrollment', 'POST', `/registrations/${family.id}/expire`),
        ]),
      )
      await stage().settled()
      for (const { id } of families) {
        const { status } = await stage().registration(id)
        expect([status, stage().kept(id)]).toEqual([status, status === 'confirmed' ? 40_000 : 0])
        expect(['confirmed', 'expired', 'rejected']).toContain(status)
      }
    })

    it('A refunded registration stays cancelled when old webhooks are delivered again', async () => {
      const first = await stage().enrolled()
      expect((await stage().refund(first.id)).status).toBe(200)
      await stage().system.reaches(first.id, 'cancelled')
      await stage().settled()
      const mails = await stage().subjects(first.body.email)
      const { events } = (await (await fetch(`${stage().system.simulator.url}/_sim/events`)).json()) as {
        events: { id: string; data: { object: { metadata?: Record<string, string> } } }[]
      }
      const about = events.filter(({ data }) => data.object.metadata?.['registrationId'] === first.id)
      expect(about.length).toBeGreaterThan(2)
      for (const { id } of about) await stage().control(`events/${id}/resend`)
      await stage().settled()
      expect((await stage().registration(first.id)).status).toBe('cancelled')
      expect(await stage().subjects(first.body.email)).toEqual(mails)
      expect(stage().refunds(first.id)).toHaveLength(1)
    })
  })
}

/** Returns the form with a new id. */
function again<Body extends object>(body: Body): Omit<Body, 'id'> {
  return { ...body, id: randomUUIDv7() }
}
