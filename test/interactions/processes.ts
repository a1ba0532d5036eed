import { randomUUIDv7 } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { robotSpider } from '@robokids/contracts/products'
import { owningServices } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { pageOf, type Stage } from './stage.ts'

/** Killed and duplicated processes, clocks that differ, and events of other versions. */
export function processInteractions(stage: () => Stage): void {
  describe('Billing is killed', () => {
    it('A form sent again through other processes gets one page if billing was killed while opening it', async () => {
      const [billing, enrollment] = await Promise.all([
        stage().system.another('billing', { RECONCILE_EVERY_MS: '3600000' }),
        stage().system.another('enrollment'),
      ])
      const bff = await stage().system.another('bff', {
        SITE_URL: stage().system.siteUrl,
        BILLING_URL: billing.url,
        ENROLLMENT_URL: enrollment.url,
      })
      try {
        const body = await stage().form()
        const sent = { ...body, agreed: await stage().terms(body) }
        await stage().fault('/v1/checkout/sessions', { kind: 'delay', method: 'POST', delayMs: 1_500, when: 'after' })
        const sessions = stage().system.provider.sessions.size
        const first = stage().browser().post('/api/registrations', sent)
        await eventually(() => stage().system.provider.sessions.size > sessions)
        await stage().system.processes.billing.kill()
        // If it was faster than the kill, it has its page already.
        expect([200, 503]).toContain((await first).status)
        const page = pageOf(await stage().browser(bff.url).post('/api/registrations', sent))
        await stage().system.processes.billing.start()
        expect(pageOf(await stage().browser().post('/api/registrations', sent))).toEqual(page)
        expect(stage().openPages(body.id)).toBe(1)
        await stage().pay(page)
        await stage().system.reaches(body.id, 'confirmed')
        await stage().settled()
        expect([stage().charges(body.id).length, await stage().seatsLeft('basic', body.startDate)]).toEqual([1, 9])
      } finally {
        await Promise.all([bff.stop(), billing.stop(), enrollment.stop()])
      }
    })

    it('A membership paid while billing is down is seated once when it is back', async () => {
      const email = stage().address()
      const { browser } = await stage().account(email)
      const page = await stage().membershipPage(email, { browser })
      await stage().system.processes.billing.kill()
      await stage().pay(page)
      await stage().system.processes.billing.start()
      await eventually(async () => (await stage().outcome(page.id)).status === 'confirmed')
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect(stage().charges(page.id)).toHaveLength(1)
    })
  })

  describe('Enrollment is killed', () => {
    it('Killing enrollment during a replacement loses neither seat nor payment, and sending the form again succeeds', async () => {
      const first = await stage().register()
      const corrected = await stage().form({
        ...first.body,
        id: randomUUIDv7(),
        city: 'Fremont',
        replaces: first.id,
      })
      const sent = { ...corrected, agreed: await stage().terms(corrected) }
      const path = `/v1/checkout/sessions/${new URL(first.url).pathname.split('/').at(-1)}/expire`
      await stage().fault(path, { kind: 'delay', method: 'POST', delayMs: 800, when: 'after' })
      const asking = stage().browser().post('/api/registrations', sent)
      await eventually(() => stage().openPages(first.id) === 0)
      await stage().system.processes.enrollment.kill()
      expect((await asking).status).toBe(503)
      await stage().system.processes.enrollment.start()
      expect(await stage().seatsLeft('basic', corrected.startDate)).toBe(9)
      const page = pageOf(await stage().browser().post('/api/registrations', sent))
      await stage().pay(page)
      await stage().system.reaches(corrected.id, 'confirmed')
      await stage().settled()
      expect(await stage().seatsLeft('basic', corrected.startDate)).toBe(9)
      expect(stage().kept(first.id, corrected.id)).toBe(40_000)
    })
  })

  describe('Purchases begun by the previous version', () => {
    it('A purchase begun by the previous version can be corrected, changed, paid and found by its account', async () => {
      const [billing, enrollment] = [stage().system.sql('billing'), stage().system.sql('enrollment')]
      const email = stage().address()
      const classDate = await stage().date()
      const first = await stage().register({ startDate: classDate, email })
      const items = (quantity: number) => [{ sku: robotSpider, quantity }]
      const order = await stage().order({ orderId: randomUUIDv7(), items: items(1) })
      const page = await stage().membershipPage(email, { classDate })
      await stage().settled()
      // As the previous version stored them.
      await enrollment`update registrations set owner_id = null, asked_owner_id = null, asked_email = null where id = ${first.id}`
      await billing`update checkout_attempts set agreement = null, owner_id = null where registration_id in ${billing([first.id, order.id])}`
      await billing`update orders set cart_id = null, owner_id = null, placed_with = null where id = ${order.id}`
      await billing`update membership_attempts set agreement = null, owner_id = null where id = ${page.id}`

      const { browser } = await stage().account(email)
      const second = await stage().register(
        { ...first.body, id: randomUUIDv7(), city: 'Fremont', replaces: first.id },
        browser,
      )
      const changed = await stage().order({ orderId: randomUUIDv7(), items: items(2), replaces: order.id })
      expect(await stage().membershipPage(email, { browser, classDate })).toEqual(page)
      const outcomes = [await stage().pay(first), await stage().pay(order, undefined, email)]
      expect(outcomes).toEqual(['expired', 'expired'])
      expect([await stage().pay(second), await stage().pay(changed, undefined, email)]).toEqual(['paid', 'paid'])
      await stage().join(page)
      await stage().system.reaches(second.id, 'confirmed')
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect((await browser.post('/api/membership/cancel')).status).toBe(200)
      expect(await stage().seatsLeft('basic', classDate)).toBe(9)
    })
  })

  describe('The provider’s clock', () => {
    it.each([
      ['ahead', 300],
      ['behind', -300],
    ])('Sales, renewals and refunds work if the provider’s clock is five minutes %s', async (_, seconds) => {
      await stage().moveClock(seconds)
      const registered = await stage().enrolled()
      const email = stage().address()
      const { browser } = await stage().account(email)
      const page = await stage().join(await stage().membershipPage(email, { browser }))
      expect((await browser.post('/api/membership/cancel')).status).toBe(200)
      expect((await browser.post('/api/membership/resume')).status).toBe(200)
      expect((await stage().switchTo(browser, 'yearly')).status).toBe(200)
      expect((await stage().refund(registered.id)).status).toBe(200)
      await stage().system.reaches(registered.id, 'cancelled')
      await stage().settled()
      expect(await browser.membership()).toMatchObject({ membershipId: page.id, plan: 'yearly' })
    })
  })

  describe('The broker is killed', () => {
    it('A payment and a refund made while the broker is down are both published when it is back, and the mail is right', async () => {
      const registered = await stage().register()
      await stage().system.nats.kill()
      await stage().pay(registered)
      await eventually(async () => (await stage().registration(registered.id)).checkout?.status === 'paid')
      expect((await stage().refund(registered.id)).status).toBe(200)
      await stage().system.nats.restart()
      await stage().system.reaches(registered.id, 'cancelled')
      await stage().settled()
      expect([stage().kept(registered.id), await stage().seatsLeft('basic', registered.body.startDate)]).toEqual([
        0, 10,
      ])
      expect((await stage().subjects(registered.body.email)).at(-1)).toMatch(/refund/i)
    })
  })

  describe('events', () => {
    it('Events of every version, about unknown things, block nothing', async () => {
      const folder = join(root, 'contracts/src/samples')
      for (const file of await readdir(folder)) {
        const event = JSON.parse(await readFile(join(folder, file), 'utf8')) as { type: string }
        await stage().publish({ ...event, id: randomUUIDv7() })
      }
      const { id } = await stage().enrolled()
      const { browser } = await stage().member()
      expect(await browser.membership()).toMatchObject({ status: 'active' })
      await stage().quiet()
      // Events about an unknown registration become dead letters, for an operator to see.
      const letters = await stage().deadLetters()
      expect(letters.filter((letter) => !/not found|not_found|no such/i.test(letter))).toEqual([])
      for (const owner of owningServices) await stage().system.sql(owner)`delete from dead_letters`
      expect((await stage().registration(id)).status).toBe('confirmed')
    })

    it('Republishing all events changes nothing and sends no mail', async () => {
      const family = await stage().enrolled()
      const refunded = await stage().enrolled()
      await stage().refund(refunded.id)
      const order = await stage().bought([{ sku: robotSpider, quantity: 1 }])
      const member = await stage().member()
      await member.browser.post('/api/membership/cancel')
      await stage().system.reaches(refunded.id, 'cancelled')
      await stage().settled()
      const state = async () => ({
        registrations: await Promise.all([family.id, refunded.id].map((id) => stage().registration(id))),
        order: await stage().readOrder(order.id),
        found: await member.browser.found(),
        seats: await stage().seatsLeft('basic', family.body.startDate),
        mails: await Promise.all(
          [family.body.email, refunded.body.email, order.email, member.email].map((email) => stage().subjects(email)),
        ),
      })
      const before = await state()
      const { refunds } = await stage().system.atProvider()
      for (const service of owningServices) await stage().republish(service)
      // A later event as a marker: once it is handled, so are the copies.
      await stage().enrolled()
      await stage().settled()
      expect(await state()).toEqual(before)
      expect((await stage().system.atProvider()).refunds).toBe(refunds)
    })
  })
}
