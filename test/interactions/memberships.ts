import { membershipTerms } from '@robokids/contracts/offers'
import { renewalTermsVersion } from '@robokids/contracts/membership'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { day, refusalOf, type Page, type Stage } from './stage.ts'

/** Memberships while prices, plans, seats and the provider's portal change. */
export function membershipInteractions(stage: () => Stage): void {
  async function atPrice(plan: 'monthly' | 'yearly', amount: number, work: () => Promise<void>): Promise<void> {
    await stage().setPrice(`membership:${plan}`, amount)
    try {
      await work()
    } finally {
      await stage().setPrice(`membership:${plan}`, plan === 'monthly' ? 700 : 6_000)
    }
  }

  async function portal(page: Page, { browser }: { browser: { post(path: string): Promise<{ body: unknown }> } }) {
    const { body } = await browser.post('/api/membership/portal')
    const { url } = body as { url: string }
    const subscription = stage().subscription(page.id).id
    return (what: string) => stage().atProvider('POST', `${new URL(url).pathname}/${what}`, { subscription })
  }

  describe('Memberships', () => {
    // Tests that advance by years come first, while there are few other memberships to renew.
    it('A membership with a scheduled plan change is not charged after its account is deleted', async () => {
      const member = await stage().member('yearly')
      expect((await stage().switchTo(member.browser, 'monthly')).status).toBe(200)
      await stage().deleteAccount(member)
      await stage().settled()
      expect(stage().renews(member.id)).toBe(false)
      await stage().passPeriod(member.id)
      await stage().settled()
      expect(
        stage()
          .charges(member.id)
          .map(({ amount }) => amount),
      ).toEqual([6_000])
      expect(stage().subscription(member.id).status).toBe('canceled')
    })

    it('A scheduled plan change is charged at the price agreed to, whatever the price has become', async () => {
      const { browser, id } = await stage().member('yearly')
      expect((await stage().switchTo(browser, 'monthly')).status).toBe(200)
      await atPrice('monthly', 1_900, async () => {
        expect((await browser.membership()).nextCharge?.amount).toBe(700)
        await stage().passPeriod(id)
        await stage().settled()
      })
      expect(
        stage()
          .charges(id)
          .map(({ amount }) => amount),
      ).toEqual([6_000, 700])
      expect(await browser.membership()).toMatchObject({ plan: 'monthly', amount: 700, nextPlan: null })
    })

    it('A membership cancelled while it renews is charged as often as it shows, and then no more', async () => {
      const { browser, id } = await stage().member()
      const end = stage().subscription(id).items.data[0]?.current_period_end ?? 0
      // The renewal's invoice is a draft, about to be charged.
      await stage().moveClock(end - stage().system.simulator.now() + 3_599)
      const [cancelled] = await Promise.all([browser.post('/api/membership/cancel'), stage().moveClock(2)])
      expect(cancelled.status).toBe(200)
      await stage().resetClock()
      await stage().settled()
      const membership = await browser.membership()
      expect(membership.payments).toHaveLength(stage().charges(id).length)
      expect([membership.endsAt, membership.nextCharge]).toEqual([membership.paidUntil, null])
      await stage().passPeriod(id)
      await stage().settled()
      expect((await browser.membership()).status).toBe('ended')
      expect(stage().charges(id)).toHaveLength(membership.payments.length)
    })

    it('A resumed membership keeps its price after the price has changed', async () => {
      const { browser, id } = await stage().member()
      await browser.post('/api/membership/cancel')
      await atPrice('monthly', 1_900, async () => {
        expect(await browser.post('/api/membership/resume')).toMatchObject({
          status: 200,
          body: { endsAt: null, nextCharge: { amount: 700 } },
        })
        await stage().passPeriod(id)
        await stage().settled()
      })
      expect(
        stage()
          .charges(id)
          .map(({ amount }) => amount),
      ).toEqual([700, 700])
    })

    it('A membership cancelled in the provider’s portal can be resumed on our page, also concurrently', async () => {
      const member = await stage().member()
      const { browser, id } = member
      const there = await portal(member, member)
      await there('cancel')
      await stage().settled()
      expect((await browser.membership()).endsAt).not.toBeNull()
      expect(await browser.post('/api/membership/resume')).toMatchObject({ status: 200, body: { endsAt: null } })
      expect(stage().renews(id)).toBe(true)
      const [, resumed] = await Promise.all([there('cancel'), browser.post('/api/membership/resume')])
      expect(resumed.status).toBe(200)
      await stage().settled()
      expect((await browser.membership()).endsAt === null).toBe(stage().renews(id))
      await Promise.all([there('resume'), browser.post('/api/membership/cancel')])
      await stage().settled()
      expect((await browser.membership()).endsAt === null).toBe(stage().renews(id))
    })

    it('A membership whose class date is cancelled while its page is open is refunded once, with one mail', async () => {
      const email = stage().address()
      const classDate = await stage().date()
      const page = await stage().membershipPage(email, { classDate })
      const sql = stage().system.sql('enrollment')
      await sql`update class_sessions set status = 'cancelled' where date = ${classDate} and class_type = 'membership'`
      await stage().pay(page)
      await eventually(async () => (await stage().outcome(page.id)).status === 'refused')
      await stage().settled()
      expect(await stage().outcome(page.id)).toMatchObject({ refusal: 'class_not_offered', refunded: 700 })
      expect([stage().kept(page.id), stage().renews(page.id)]).toEqual([0, false])
      expect(await stage().subjects(email)).toHaveLength(1)
      // The same address can book another date.
      await stage().join(await stage().membershipPage(email))
    })

    it('A member keeps the seat if the class capacity is reduced while paying', async () => {
      const classDate = await stage().date(1)
      const page = await stage().membershipPage(stage().address(), { classDate })
      const sql = stage().system.sql('enrollment')
      await sql`update class_sessions set capacity = 0 where date = ${classDate} and class_type = 'membership'`
      await stage().join(page)
      expect(await stage().seatsLeft('membership', classDate)).toBe(0)
    })

    it('A membership with a refunded renewal can be cancelled and resumed', async () => {
      const { browser, id, email } = await stage().member()
      await stage().passPeriod(id)
      await stage().settled()
      const { payments } = await browser.membership()
      const refund = { receiptNumber: payments[0]?.receiptNumber, refundId: crypto.randomUUID() }
      const [refunded, cancelled] = await Promise.all([
        stage().operate('billing', 'POST', '/refunds', refund),
        browser.post('/api/membership/cancel'),
      ])
      expect([refunded.status, cancelled.status]).toEqual([200, 200])
      await stage().settled()
      expect(stage().kept(id)).toBe(700)
      const membership = await browser.membership()
      expect(membership).toMatchObject({ endsAt: membership.paidUntil, payments: [{ refunded: 700 }, { refunded: 0 }] })
      expect(await browser.post('/api/membership/resume')).toMatchObject({ status: 200, body: { endsAt: null } })
      await stage().settled()
      expect((await stage().subjects(email)).filter((subject) => /refund/i.test(subject))).toHaveLength(1)
    })

    it('After a mail server outage a member is mailed the latest state, and nothing outdated', async () => {
      const { browser, email } = await stage().member()
      await stage().mail(email, /member/i)
      await stage().setMailServer('away')
      for (const change of ['cancel', 'resume', 'cancel', 'resume', 'cancel'])
        expect((await browser.post(`/api/membership/${change}`)).status).toBe(200)
      await eventually(async () => {
        const [row] = await stage().system.sql('notifications')`
          select count(*)::int as mails from mails where recipient = ${email} and kind like 'membership_%'`
        return Number(row?.['mails']) >= 2
      })
      await stage().setMailServer('back')
      await stage().settled()
      const subjects = await stage().subjects(email)
      const about = subjects.filter((subject) => /cancel|goes on|continue|end|resume/i.test(subject))
      expect(about.at(-1)).toMatch(/cancel|end/i)
      const mail = (await stage().system.mailsTo(email)).at(-1)
      expect(mail?.text).toMatch(/cancel|will not/i)
    })

    it('A membership is sold at the price that the page shows, after price changes and for older pages without a price', async () => {
      const [email, classDate] = [stage().address(), await stage().date()]
      const browser = stage().browser()
      const ask = (agreed?: object) =>
        browser.post('/api/createStripeSession', { email, plan: 'monthly', classDate, ...(agreed ? { agreed } : {}) })
      const terms = (amount: number) =>
        membershipTerms({ plan: 'monthly', amount, classDate, termsVersion: renewalTermsVersion })
      const first = await ask(terms(700))
      expect(first.status).toBe(200)
      await atPrice('monthly', 900, async () => {
        // The open page has the price that was agreed to.
        expect((await ask(terms(700))).body).toEqual(first.body)
        expect((await ask(terms(900))).body).not.toEqual(first.body)
        expect(refusalOf(await ask(terms(700)))).toBe('terms_changed')
        expect((await ask()).status).toBe(200)
      })
      const page = await ask(terms(700))
      expect(page.status).toBe(200)
      expect(await stage().pay({ url: String(page.body['url']) })).toBe('paid')
      await stage().settled()
      const open = [...stage().system.provider.sessions.values()].filter(
        ({ object }) => object.customer_email === email && object.status === 'open',
      )
      expect(open).toEqual([])
      const taken = [...stage().system.provider.sessions.values()].filter(
        ({ object }) => object.customer_email === email && object.status === 'complete',
      )
      expect(taken.map(({ object }) => object.amount_total)).toEqual([700])
    })

    it('A membership cancelled and resumed concurrently is what its profile and its last mail say', async () => {
      const { browser, email, id } = await stage().member()
      const other = stage().browser()
      await other.signIn(email)
      await browser.post('/api/membership/cancel')
      const answers = await Promise.all([
        browser.post('/api/membership/resume'),
        other.post('/api/membership/cancel'),
        browser.post('/api/membership/cancel'),
        other.post('/api/membership/resume'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      await stage().settled()
      const ends = !stage().renews(id)
      expect((await browser.membership()).endsAt !== null).toBe(ends)
      const last = (await stage().system.mailsTo(email)).at(-1)
      expect(last?.subject).toMatch(ends ? /cancel|end/i : /goes on|continue|resume/i)
    })

    it('Switching the plan in two browsers at once is charged for one change', async () => {
      const { browser, email, id } = await stage().member()
      const other = stage().browser()
      await other.signIn(email)
      const answers = await Promise.all([stage().switchTo(browser, 'yearly'), stage().switchTo(other, 'yearly')])
      for (const answer of answers) expect([200, 'quote_outdated']).toContain(refusalOf(answer))
      expect(answers.some(({ status }) => status === 200)).toBe(true)
      await stage().settled()
      expect(stage().charges(id)).toHaveLength(2)
      expect(await browser.membership()).toMatchObject({ plan: 'yearly', payments: [{ reason: 'switch' }, {}] })
    })

    it('Switching the plan during a renewal lists each charge once', async () => {
      const { browser, id } = await stage().member()
      const end = stage().subscription(id).items.data[0]?.current_period_end ?? 0
      await stage().moveClock(end - stage().system.simulator.now() + 3_599)
      const quote = await stage().quote(browser, 'yearly')
      const { dueNow, reckonedAt, agreement } = quote
      const agreed = agreement === undefined ? {} : { agreed: agreement.terms }
      const [switched] = await Promise.all([
        browser.post('/api/membership/switch', { plan: 'yearly', dueNow, reckonedAt, ...agreed }),
        stage().moveClock(2),
      ])
      expect([200, 'quote_outdated']).toContain(refusalOf(switched))
      await stage().resetClock()
      await stage().settled()
      const { payments, plan } = await browser.membership()
      expect(payments.map(({ amount }) => amount).toReversed()).toEqual(
        stage()
          .charges(id)
          .map(({ amount }) => amount),
      )
      expect(plan).toBe(switched.status === 200 ? 'yearly' : 'monthly')
      // A charged month is credited towards the year.
      const sum = payments.reduce((cents, { amount }) => cents + amount, 0)
      expect(sum).toBeLessThan(700 + 6_000 + 10)
    })

    it('A membership ended in the provider’s dashboard during a change is over, and the member can join again', async () => {
      const { browser, email, id } = await stage().member()
      const { id: subscription } = stage().subscription(id)
      const [, changed] = await Promise.all([
        stage().atProvider('DELETE', `/v1/subscriptions/${subscription}`),
        browser.post('/api/membership/cancel'),
      ])
      expect([200, 'membership_not_changeable']).toContain(refusalOf(changed))
      await stage().settled()
      expect((await browser.membership()).status).toBe('ended')
      expect(refusalOf(await browser.post('/api/membership/resume'))).toBe('membership_not_changeable')
      const page = await stage().join(await stage().membershipPage(email, { browser }))
      await stage().settled()
      expect(await browser.found()).toMatchObject({
        membership: { membershipId: page.id, status: 'active' },
        others: [],
      })
    })

    it('Duplicated and reordered webhooks leave a membership correct, and are mailed once', async () => {
      const { browser, email, id } = await stage().member()
      await stage().mail(email, /./)
      await stage().control('webhooks/config', { paused: true, duplicate: 2, reverse: true })
      for (const change of ['cancel', 'resume', 'cancel']) await browser.post(`/api/membership/${change}`)
      await stage().releaseWebhooks()
      await stage().settled()
      expect([(await browser.membership()).endsAt === null, stage().renews(id)]).toEqual([false, false])
      const about = (await stage().subjects(email)).filter((subject) =>
        /cancel|end|goes on|continue|resume/i.test(subject),
      )
      expect(about.at(-1)).toMatch(/cancel|end/i)
      expect(about.length).toBeLessThanOrEqual(3)
    })

    it('A failed payment is not retried once the account is disabled', async () => {
      const { browser, email, id } = await stage().member()
      await stage().useCard(id, 'pm_card_chargeCustomerFail')
      await stage().passPeriod(id)
      await stage().settled()
      expect(await browser.membership()).toMatchObject({ status: 'past_due' })
      await stage().useCard(id, 'pm_card_visa')
      await stage().administerAccount('AdminDisableUser', email)
      await stage().settled()
      await stage().moveClock(40 * day)
      await stage().system.simulator.deliveriesIdle()
      await stage().resetClock()
      await stage().settled()
      expect(stage().charges(id)).toHaveLength(1)
    })
  })
}
