import { randomUUIDv7 } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { pageOf, password, refusalOf, type Stage } from './stage.ts'

/** Whose a purchase is, whatever becomes of accounts and addresses meanwhile. */
export function accountMeetings(stage: () => Stage): void {
  describe('a membership', () => {
    it('that is paid before the code of the new account is typed belongs to that account', async () => {
      const email = stage().address()
      const page = await stage().membershipPage(email)
      const newcomer = await stage().newcomer(email)
      await stage().join(page)
      const { browser } = await stage().confirm(newcomer)
      await stage().settled()
      expect(await browser.found()).toMatchObject({
        membership: { membershipId: page.id, status: 'active' },
        others: [],
      })
    })

    it('whose page was opened before there was an account, and paid after, belongs to that account', async () => {
      const email = stage().address()
      const page = await stage().membershipPage(email)
      const { browser } = await stage().account(email)
      await stage().join(page)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect((await browser.post('/api/membership/cancel')).body).toMatchObject({
        endsAt: expect.any(String) as string,
      })
      expect(stage().renews(page.id)).toBe(false)
    })

    it('bought for another address by somebody who is signed in stays theirs when that address signs up', async () => {
      const { browser } = await stage().account()
      const theirs = stage().address()
      const page = await stage().join(await stage().membershipPage(theirs, { browser }))
      const other = await stage().account(theirs)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
      expect(await other.browser.found()).toEqual({ membership: null, others: [] })
      // Nothing keeps the other one from a membership of its own.
      const own = await stage().join(await stage().membershipPage(theirs, { browser: other.browser }))
      await stage().settled()
      expect((await other.browser.membership()).membershipId).toBe(own.id)
      expect((await browser.found()).others).toEqual([])
    })

    it('that comes to an account with the address of a deleted one ends, and is shown beside its own', async () => {
      const [first, second] = [await stage().member(), await stage().member()]
      await stage().deleteAccount(second)
      await stage().settled()
      await stage().moveTo(first, second.email)
      await stage().settled()
      const { membership, others } = await first.browser.found()
      expect(membership).toMatchObject({ membershipId: first.id, status: 'active', endsAt: null })
      expect(others).toMatchObject([{ membershipId: second.id, endsAt: expect.any(String) as string }])
      expect([stage().renews(first.id), stage().renews(second.id)]).toEqual([true, false])
    })

    it('of a deleted account is found by whoever signs up again with its address, and goes on if they say so', async () => {
      const before = await stage().member()
      await stage().deleteAccount(before)
      await stage().settled()
      expect(stage().renews(before.id)).toBe(false)
      const { browser } = await stage().account(before.email)
      await stage().settled()
      expect(await browser.membership()).toMatchObject({
        membershipId: before.id,
        endsAt: expect.any(String) as string,
      })
      const resumed = await browser.post('/api/membership/resume')
      expect(resumed).toMatchObject({ status: 200, body: { endsAt: null } })
      await stage().settled()
      // That its first account was deleted is told once more, and is long over.
      await stage().republish('identity')
      await stage().settled()
      expect(stage().renews(before.id)).toBe(true)
      await stage().passPeriod(before.id)
      await stage().settled()
      expect(stage().charges(before.id)).toHaveLength(2)
      expect((await browser.membership()).payments).toHaveLength(2)
    })

    it('is not sold in a browser whose account was deleted in another, and is once that signs up again', async () => {
      const account = await stage().account()
      const stale = account.browser.copy()
      await stage().deleteAccount(account)
      await stage().settled()
      const { email } = account
      const wish = { email, plan: 'monthly', classDate: await stage().date() }
      expect(refusalOf(await stale.post('/api/createStripeSession', wish))).toBe('sign_in_required')
      const { browser } = await stage().account(email)
      const page = await stage().join(await stage().membershipPage(email, { browser }))
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('is not renewed while its account is disabled, and goes on when it is enabled only if the member says so', async () => {
      const { browser, email, id } = await stage().member()
      await stage().administerAccount('AdminDisableUser', email)
      await stage().settled()
      expect(stage().renews(id)).toBe(false)
      await stage().administerAccount('AdminEnableUser', email)
      await stage().settled()
      expect(stage().renews(id)).toBe(false)
      const again = stage().browser()
      await again.signIn(email)
      expect(await again.membership()).toMatchObject({ membershipId: id, endsAt: expect.any(String) as string })
      expect((await again.post('/api/membership/resume')).status).toBe(200)
      await stage().settled()
      await stage().republish('identity')
      await stage().settled()
      expect(stage().renews(id)).toBe(true)
      expect(browser.userId).toBe(again.userId)
    })

    it('bought signed in with an address that is not proven yet is one before and after it is', async () => {
      const account = await stage().account()
      const next = stage().address()
      await stage().moveTo(account, next, false)
      const page = await stage().join(await stage().membershipPage(next, { browser: account.browser }))
      await stage().settled()
      expect(await account.browser.found()).toMatchObject({ membership: { membershipId: page.id }, others: [] })
      await stage().prove(account, next)
      await stage().settled()
      expect(await account.browser.found()).toMatchObject({ membership: { membershipId: page.id }, others: [] })
      expect((await account.browser.post('/api/membership/cancel')).status).toBe(200)
    })

    it('bought by the owner of an address is not shown to whoever has only typed that address', async () => {
      const account = await stage().account()
      const somebodyElses = stage().address()
      await stage().moveTo(account, somebodyElses, false)
      const page = await stage().join(await stage().membershipPage(somebodyElses))
      await stage().settled()
      expect(await account.browser.found()).toEqual({ membership: null, others: [] })
      expect(refusalOf(await account.browser.post('/api/membership/cancel'))).toBe('membership_not_found')
      const { browser } = await stage().account(somebodyElses)
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('stays with an account whose address changes to another and back, and writes to the one it has', async () => {
      const member = await stage().member()
      const other = stage().address()
      await stage().moveTo(member, other)
      await stage().moveTo(member, member.email)
      await stage().settled()
      expect(await member.browser.found()).toMatchObject({ membership: { membershipId: member.id }, others: [] })
      expect((await member.browser.post('/api/membership/cancel')).status).toBe(200)
      await stage().settled()
      const about = /will not renew|cancel|ends/i
      expect((await stage().subjects(member.email)).filter((subject) => about.test(subject))).toHaveLength(1)
      expect((await stage().subjects(other)).filter((subject) => about.test(subject))).toEqual([])
    })

    it('cannot be cancelled from a browser that a new password has signed out', async () => {
      const { browser, id } = await stage().member()
      const other = stage().browser()
      const { body } = await browser.get('/api/profile')
      await other.signIn(String(body['email']))
      const change = { previousPassword: password, proposedPassword: 'Another-2031!' }
      const [changed] = await Promise.all([
        browser.post('/api/auth/change-password', change),
        other.get('/api/membership'),
        other.copy().get('/api/membership'),
      ])
      expect(changed.status).toBe(200)
      expect(refusalOf(await other.post('/api/membership/cancel'))).toBe('sign_in_required')
      expect(stage().renews(id)).toBe(true)
      expect((await browser.membership()).endsAt).toBeNull()
    })

    it('cannot be cancelled from an older tab of somebody who has signed out since', async () => {
      const { browser, id, userId } = await stage().member()
      await browser.post('/api/auth/sign-out', {})
      browser.userId = userId
      expect(refusalOf(await browser.post('/api/membership/cancel'))).toBe('sign_in_required')
      expect(stage().renews(id)).toBe(true)
    })

    it('is found by its account where the news of that account comes after the payment', async () => {
      const email = stage().address()
      const newcomer = await stage().newcomer(email)
      const code = await stage().codeTo(email)
      const letGo = await stage().holdPublishing('identity')
      const page = await stage().membershipPage(email)
      try {
        await newcomer.browser.post('/api/auth/confirm-sign-up', { email, code })
        await stage().join(page)
      } finally {
        await letGo()
      }
      await stage().settled()
      expect((await newcomer.browser.membership()).membershipId).toBe(page.id)
      expect((await newcomer.browser.post('/api/membership/cancel')).status).toBe(200)
    })

    it('paid after its account was deleted, before anybody had heard of that, is not renewed', async () => {
      const account = await stage().account()
      const page = await stage().membershipPage(account.email, { browser: account.browser })
      const letGo = await stage().holdPublishing('identity')
      try {
        await stage().deleteAccount(account)
        await stage().join(page)
        expect(stage().renews(page.id)).toBe(true)
      } finally {
        await letGo()
      }
      await stage().settled()
      expect(stage().renews(page.id)).toBe(false)
    })

    it('asked for while the identity service is away belongs to whoever is signed in', async () => {
      const { browser } = await stage().account()
      const [email, classDate] = [stage().address(), await stage().date()]
      await stage().system.processes.identity.kill()
      const page = await stage().membershipPage(email, { browser, classDate })
      await stage().join(page)
      await stage().system.processes.identity.start()
      await stage().settled()
      expect((await browser.membership()).membershipId).toBe(page.id)
    })

    it('stays where it is when all that was ever told of accounts is told once more', async () => {
      const member = await stage().member()
      const [second, third] = [stage().address(), stage().address()]
      await stage().moveTo(member, second)
      await stage().moveTo(member, third)
      const successor = await stage().account(second)
      await stage().settled()
      const mails = await stage().subjects(third)
      await stage().republish('identity')
      await stage().settled()
      expect(await member.browser.found()).toMatchObject({ membership: { membershipId: member.id }, others: [] })
      expect(await successor.browser.found()).toEqual({ membership: null, others: [] })
      expect(await stage().subjects(third)).toEqual(mails)
    })

    it('whose page is opened without signing in and again signed in is one membership, with one charge', async () => {
      const { browser, email } = await stage().account()
      const pages = [
        await stage().membershipPage(email),
        await stage().membershipPage(email, { browser, plan: 'yearly' }),
      ]
      const outcomes: string[] = []
      for (const page of pages) outcomes.push(await stage().pay(page))
      expect(outcomes).toEqual(['expired', 'paid'])
      await stage().settled()
      expect(await browser.found()).toMatchObject({
        membership: { membershipId: pages[1]?.id, plan: 'yearly' },
        others: [],
      })
      expect(stage().kept(...pages.map(({ id }) => id))).toBe(6_000)
    })

    it('is never paid on the page that another account has opened for the same address', async () => {
      const { browser } = await stage().account()
      const [theirs, classDate] = [stage().address(), await stage().date(2)]
      const given = await stage().membershipPage(theirs, { browser, classDate })
      const own = await stage().membershipPage(theirs, { classDate })
      expect(own.id).not.toBe(given.id)
      expect([await stage().pay(given), await stage().pay(own)]).toEqual(['expired', 'paid'])
      await eventually(async () => (await stage().outcome(own.id)).status === 'confirmed')
      const other = await stage().account(theirs)
      await stage().settled()
      expect((await other.browser.membership()).membershipId).toBe(own.id)
      expect(await browser.found()).toEqual({ membership: null, others: [] })
      expect(await stage().seatsLeft('membership', classDate)).toBe(1)
    })

    it('is never paid signed in on the page that another account has opened for the same address', async () => {
      const [given, own] = [await stage().account(), await stage().account()]
      const classDate = await stage().date()
      const first = await stage().membershipPage(own.email, { browser: given.browser, classDate })
      const second = await stage().membershipPage(own.email, { browser: own.browser, classDate })
      expect(second.id).not.toBe(first.id)
      expect([await stage().pay(first), await stage().pay(second)]).toEqual(['expired', 'paid'])
      await stage().settled()
      expect((await own.browser.membership()).membershipId).toBe(second.id)
      expect(await given.browser.found()).toEqual({ membership: null, others: [] })
    })

    it('bought without signing in beside a second one that the same account buys signed in is charged once, or both can be ended', async () => {
      const { browser, email } = await stage().account()
      const byAddress = await stage().membershipPage(email)
      const signedIn = await browser.post('/api/createStripeSession', {
        email: stage().address(),
        plan: 'monthly',
        classDate: await stage().date(),
      })
      await stage().pay(byAddress)
      if (signedIn.status === 200) await stage().pay({ url: String(signedIn.body['url']) })
      await stage().settled()
      const { membership, others } = await browser.found()
      const shown = [membership, ...others].filter((one) => one?.status === 'active' && one.endsAt === null)
      const renewing = [...stage().system.provider.subscriptions.values()]
        .map(({ metadata }) => metadata['attemptId'] ?? '')
        .filter((id) => [byAddress.id, ...shown.map((one) => one?.membershipId)].includes(id) && stage().renews(id))
      expect(new Set(shown.map((one) => one?.membershipId))).toEqual(new Set(renewing))
      const kept = stage().kept(...new Set([byAddress.id, ...shown.map((one) => one?.membershipId ?? '')]))
      expect(kept).toBe(700 * shown.length)
    })
  })

  describe('a registration', () => {
    it('is signed for with what its page shows after the address of its account has changed', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().pay(registered)
      await stage().system.reaches(registered.id, 'confirmed')
      await stage().moveTo(account, stage().address())
      await stage().settled()
      const { email } = await stage().registration(registered.id)
      // The tab from before the change, and the page as it is now.
      expect((await stage().sign(registered)).status).toBe(200)
      expect((await stage().sign(registered, { email })).status).toBe(200)
      await stage().system.reaches(registered.id, 'waiver_signed')
    })

    it('of the same child by the same account under another address is refused while the first stands', async () => {
      const account = await stage().account()
      const first = await stage().register({ email: account.email }, account.browser)
      await stage().pay(first)
      await stage().system.reaches(first.id, 'confirmed')
      await stage().moveTo(account, stage().address())
      await stage().settled()
      const form = {
        ...first.body,
        id: randomUUIDv7(),
        email: String((await account.browser.get('/api/profile')).body['email']),
      }
      const submit = async (differences: object) =>
        account.browser.post('/api/registrations', await stage().form({ ...form, id: randomUUIDv7(), ...differences }))
      // What says the very same is the same.
      const confirmation = `${stage().system.siteUrl}/robokids/success?reference=${first.id}`
      expect(pageOf(await submit({})).url).toBe(confirmation)
      expect(refusalOf(await submit({ city: 'Fremont' }))).toBe('already_registered')
      expect(refusalOf(await submit({ email: stage().address() }))).toBe('already_registered')
      expect(stage().kept(first.id)).toBe(40_000)
    })

    it('from an older tab of somebody else than is signed in by now holds nothing, nor does an order or a membership', async () => {
      const account = await stage().account()
      const olderTab = account.browser.copy()
      const other = await stage().account()
      const tab = other.browser.copy()
      tab.userId = olderTab.userId
      const form = await stage().form()
      expect(refusalOf(await tab.post('/api/registrations', form))).toBe('other_account')
      expect(await stage().seatsLeft('basic', form.startDate)).toBe(10)
      const order = { orderId: randomUUIDv7(), items: [{ sku: 'product:robot-spider', quantity: 1 }] }
      expect(refusalOf(await tab.post('/api/checkout', order))).toBe('other_account')
      const wish = { email: account.email, plan: 'monthly', classDate: form.startDate }
      expect(refusalOf(await tab.post('/api/createStripeSession', wish))).toBe('other_account')
      expect(await stage().seatsLeft('membership', form.startDate)).toBe(10)
    })

    it('whose account is deleted in the moment in which it is paid is confirmed or never charged', async () => {
      const accounts = await Promise.all([stage().account(), stage().account(), stage().account()])
      const families = await Promise.all(accounts.map(({ email, browser }) => stage().register({ email }, browser)))
      await Promise.all([
        ...families.map((family) => stage().pay(family)),
        ...accounts.map((account) => stage().deleteAccount(account)),
      ])
      await stage().settled()
      for (const { id } of families) {
        const { status } = await stage().registration(id)
        expect([status, stage().kept(id)]).toEqual(
          status === 'confirmed' ? ['confirmed', 40_000] : [status === 'rejected' ? 'rejected' : 'expired', 0],
        )
      }
    })

    it('of an account that was deleted is signed for by the link in its mail', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().pay(registered)
      await stage().system.reaches(registered.id, 'confirmed')
      await stage().deleteAccount(account)
      await stage().settled()
      expect((await stage().registration(registered.id)).status).toBe('confirmed')
      expect((await stage().sign(registered)).status).toBe(200)
      expect((await stage().ship(registered.id)).status).toBe(200)
    })

    it('and a membership whose pages were opened before the address of their account changed are told of at the new one', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      const page = await stage().membershipPage(account.email, { browser: account.browser })
      const next = stage().address()
      await stage().moveTo(account, next)
      await stage().settled()
      await stage().pay(registered)
      await stage().join(page)
      await stage().settled()
      const about = /confirmed|registered|you are a member/i
      expect((await stage().subjects(next)).filter((subject) => about.test(subject))).toHaveLength(2)
      expect((await stage().subjects(account.email)).filter((subject) => about.test(subject))).toEqual([])
      const successor = await stage().account(account.email)
      await stage().settled()
      expect(await successor.browser.found()).toEqual({ membership: null, others: [] })
      expect((await account.browser.membership()).membershipId).toBe(page.id)
    })

    it('made by an account that is deleted before it pays cannot be paid any more, and its seat is free', async () => {
      const account = await stage().account()
      const registered = await stage().register({ email: account.email }, account.browser)
      await stage().deleteAccount(account)
      await stage().settled()
      expect(await stage().pay(registered)).toBe('expired')
      expect(stage().charges(registered.id)).toEqual([])
      expect(await stage().seatsLeft('basic', registered.body.startDate)).toBe(10)
    })
  })
}
